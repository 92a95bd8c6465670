"""A checkout of this program with stack files of a test's own, and its rehearsal."""

import io
from pathlib import Path
from typing import Any

import yaml

from aksgpu.rehearse import command
from aksgpu.report import ReportConsole
from rehearsal.cloud import Cloud
from tests.bench import ROOT
from tests.request_log import RequestLog


class Checkout:
    """A checkout whose `stack` is rehearsed, by the whole command."""

    stack = "test"

    def __init__(self, folder: Path, cloud: Cloud) -> None:
        self.folder = folder
        self.cloud = cloud
        linked = {"Pulumi.yaml", ".venv", "plugins", "policies"}
        for path in ROOT.iterdir():
            if path.name in linked or path.suffix == ".py":
                (folder / path.name).symlink_to(path)
        self.log = RequestLog(cloud.request_log)

    def says(self, **settings: Any) -> None:
        """Writes the stack file."""
        config = {f"aks-gpu:{key}": value for key, value in settings.items()}
        self.takes(yaml.safe_dump({"config": config}))

    def takes(self, stack_file: str) -> None:
        (self.folder / f"Pulumi.{self.stack}.yaml").write_text(stack_file)

    def rehearse(self, code: int = 0) -> str:
        page = io.StringIO()
        ended = command.rehearse(self.stack, ReportConsole(file=page, width=500))
        assert ended == code, page.getvalue()
        return page.getvalue()

    def writes(self) -> int:
        return sum(line["method"] in ("PUT", "DELETE") for line in self.log.lines())
