"""The check of a cluster as a test runs it, and what it said."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from aksgpu.check.command import check_cluster
from aksgpu.check.examination import CheckOptions
from aksgpu.check.target import Target, of_stack
from aksgpu.running import Program
from tests.bench import Bench
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Checked:
    """What a check printed, and its exit code."""

    code: int
    printed: str
    progress: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.printed)
        assert document["exitCode"] == self.code
        return document

    @property
    def problems(self) -> list[dict[str, Any]]:
        return [finding for finding in self.document["findings"] if finding["isProblem"]]

    def only(self, cause: str) -> dict[str, Any]:
        """The one problem, which is of that cause, and gives the exit code."""
        [problem] = self.problems
        assert problem["cause"] == cause == self.document["cause"]
        assert problem["advice"]
        return problem


def checked(target: Callable[[], Target], **options: Any) -> Checked:
    """Checks a cluster; as JSON, unless an option says otherwise.

    It ends as soon as all is well: only where nothing comes up, it waits for as long as it may.
    """
    output, progress = io.StringIO(), list[str]()
    code = check_cluster(
        target,
        CheckOptions(**{"settle": PATIENCE, "json": True, **options}),
        Console(file=output, width=200),
        progress.append,
    )
    return Checked(code, output.getvalue(), "\n".join(progress))


def checked_stack(bench: Bench, **options: Any) -> Checked:
    """Checks the cluster of a test's own stack."""
    pulumi = Program((bench.engine.pulumi,), bench.folder / "project", bench.environment)
    return checked(lambda: of_stack(pulumi, "test"), **options)
