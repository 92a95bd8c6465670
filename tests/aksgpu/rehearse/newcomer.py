"""Somebody with a checkout, who uses the commands as they stand, each in a process of its own."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine_setup import ensure_kubernetes
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import AKSGPU
from tests.request_log import RequestLog
from tests.waiting import PATIENCE


@dataclass(frozen=True)
class Newcomer:
    """Somebody with a checkout, whose rehearsals lie in a folder of their own."""

    root: Path
    # What is otherwise in the environment of this somebody.
    own: Mapping[str, str] = field(default_factory=dict)
    _log: RequestLog = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_log", RequestLog(self.home / "requests.jsonl"))

    @property
    def home(self) -> Path:
        return self.root / ".rehearsal"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **self.own,
            "AKS_GPU_REHEARSAL_ROOT": str(self.root),
            "COLUMNS": "200",
        }

    def start_cloud(self, time_scale: float) -> Cloud:
        """Starts the cloud ahead of the command, at a time scale of the test's own."""
        return cloud.start(self.home, time_scale, kubernetes=ensure_kubernetes().folder)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [AKSGPU, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        process = self.start(*arguments)
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        finally:
            # One that hangs goes with all that it has started.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == code, output
        return output

    def shell(self, script: str) -> str:
        """Runs plain commands in a shell that has evaluated the exports."""
        command = f'eval "$({shlex.quote(str(AKSGPU))} env)" && cd {self.home}/project && {script}'
        ended = subprocess.run(
            ["bash", "-c", command],  # noqa: S607 (the user's shell)
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def requests(self, method: str) -> list[dict[str, Any]]:
        return [line for line in self._log.lines() if line["method"] == method]

    def state(self) -> dict[str, Any]:
        deployment: dict[str, Any] = json.loads(self.shell("pulumi stack export"))["deployment"]
        return deployment

    def azure_resources(self) -> set[str]:
        return {
            resource["urn"].rpartition("::")[2]
            for resource in self.state()["resources"]
            if resource["type"].startswith("azure-native:")
        }
