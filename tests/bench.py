"""A small Pulumi project of a test's own, on the real engine and a rehearsal cloud."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import yaml

from aksgpu.project import Project
from aksgpu.rehearsal_stage import rehearsal_environment
from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.names import unique
from tests.request_log import RequestLog
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
# The folders of the stack files.
STACKS = {"dev": ROOT, "prod": ROOT, "article": ROOT / "tests" / "article"}
# The command of the environment in which the tests run.
AKSGPU = Path(sys.executable).with_name("aksgpu")


@dataclass(frozen=True)
class Bench:
    """A project with the offline plug-ins; `program` is the text of its __main__.py."""

    engine: Engine
    cloud: Cloud
    folder: Path
    _log: RequestLog = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_log", RequestLog(self.cloud.request_log))

    def begin(self) -> Self:
        """Makes the project and its stack, without anything in it."""
        self.write("")
        self.pulumi("stack", "init")
        return self

    def write(self, program: str) -> None:
        real = Project(ROOT, self.folder)
        real.write()
        own = yaml.safe_load((real.folder / "Pulumi.yaml").read_text())
        own |= {"main": ".", "config": {}}
        (real.folder / "Pulumi.yaml").write_text(yaml.safe_dump(own))
        (real.folder / "__main__.py").write_text(program)

    def write_stack(self, config: dict[str, Any]) -> None:
        """Puts the real program in place, with a stack file of the test's own."""
        project = Project(ROOT, self.folder)
        project.write()
        file = project.folder / "Pulumi.test.yaml"
        kept = yaml.safe_load(file.read_text()) if file.exists() else {}
        content = {f"aks-gpu:{key}": value for key, value in config.items()}
        file.write_text(yaml.safe_dump((kept or {}) | {"config": content}))

    def write_example(self, stack: str, folder: Path | None = None) -> None:
        """Puts the real program in place, with a stack file of this checkout.

        Its group and its cluster have names of the test's own: there is one cloud for many tests.
        """
        own = unique(stack)
        file = (folder or STACKS[stack]) / f"Pulumi.{stack}.yaml"
        written = yaml.safe_load(file.read_text())["config"]
        config = {key.removeprefix("aks-gpu:"): value for key, value in written.items()}
        for part in ("resourceGroup", "cluster"):
            config[part] = config.get(part, {}) | {"name": own}
        self.write_stack(config)

    @property
    def environment(self) -> dict[str, str]:
        own = rehearsal_environment(Project(ROOT, self.folder), self.cloud)
        return {**os.environ, **own, "PATH": self.engine.on_path(own["PATH"])}

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        """Runs pulumi to its end; what it printed."""
        ended = subprocess.run(
            [self.engine.pulumi, *arguments, "--stack", "test"],
            cwd=self.folder / "project",
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (ended.returncode != 0) == fails, ended.stdout
        return ended.stdout

    @contextmanager
    def updating(self) -> Iterator["subprocess.Popen[str]"]:
        """An `up` that runs beside the test, and no longer than that."""
        update = subprocess.Popen(
            [self.engine.pulumi, "up", "--yes", "--skip-preview", "--stack", "test"],
            cwd=self.folder / "project",
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            yield update
        finally:
            update.kill()
            update.communicate(timeout=PATIENCE)

    def up(self, program: str, *, fails: bool = False) -> str:
        self.write(program)
        return self.pulumi("up", "--yes", "--skip-preview", fails=fails)

    def changes(self, *preview: str) -> dict[str, str]:
        """What a preview would do, by the names of the resources; nothing that stays the same."""
        return _changes(json.loads(self.pulumi("preview", "--json", *preview))["steps"])

    def update(self, *up: str) -> dict[str, str]:
        """Brings the stack up without a preview; what that did, as `changes` tells it."""
        events = self.pulumi("up", "--yes", "--skip-preview", "--json", *up).splitlines()
        told = (json.loads(event).get("resourcePreEvent") for event in events)
        return _changes(step["metadata"] for step in told if step)

    def resources(self) -> dict[str, dict[str, Any]]:
        """The resources in the state, by their names."""
        return {
            resource["urn"].rpartition("::")[2]: resource
            for resource in self.deployment().get("resources", [])
            if not resource["type"].startswith("pulumi:")
        }

    def deployment(self) -> dict[str, Any]:
        deployment: dict[str, Any] = json.loads(self.pulumi("stack", "export"))["deployment"]
        return deployment

    def requests(self, method: str, path_part: str = "") -> list[dict[str, Any]]:
        """What reached ARM since this project was made, by method and a part of the path."""
        return [
            line
            for line in self._log.lines()
            if line["method"] == method
            and path_part.lower() in line["path"].lower()
            and "/subscriptions/" in line["path"]
        ]


def _changes(steps: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {
        step["urn"].rpartition("::")[2]: step["op"]
        for step in steps
        # An update tells a replacement in three steps, of which a preview shows the middle one.
        if step["op"] not in ("same", "refresh", "create-replacement", "delete-replaced")
    }
