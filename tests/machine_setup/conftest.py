"""What the tests of the engine share: this machine's real engine, and projects to run on it."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from machine_setup import Engine, ensure_engine
from tests.waiting import PATIENCE


@pytest.fixture
def messages() -> list[str]:
    """The lines that were told the user; its `append` is a `say`."""
    return []


@pytest.fixture(scope="session")
def engine() -> Engine:
    return ensure_engine()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is on PATH; pip reaches no registry."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return folder


def python_of(virtualenv: str) -> dict[str, object]:
    """The runtime section of a Pulumi.yaml, PulumiPolicy.yaml or PulumiPlugin.yaml."""
    return {"name": "python", "options": {"virtualenv": virtualenv, "toolchain": "pip"}}


@dataclass
class Project:
    """A Pulumi project with one stack, in a folder of its own."""

    folder: Path
    environment: dict[str, str]
    last: str = field(default="", init=False)

    def write(self, path: str, content: str | dict[str, object]) -> Path:
        """Write a file of the project; a dictionary is written as YAML."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return file

    def configure(self, virtualenv: str = sys.prefix, **more: object) -> None:
        """Write the Pulumi.yaml; the Python is that of these tests unless another is named."""
        self.write("Pulumi.yaml", {"name": "trial", "runtime": python_of(virtualenv), **more})

    def add(self, file: str, virtualenv: str, main: str, folder: str) -> Path:
        """Add a policy pack or a plugin: a folder with its own settings file and program."""
        self.write(f"{folder}/{file}", {"runtime": python_of(virtualenv), "name": folder})
        return self.write(f"{folder}/__main__.py", main).parent

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start pulumi as the leader of a process group of its own."""
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive"],  # noqa: S607
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )

    def finish(self, process: subprocess.Popen[str]) -> int:
        """Wait for a pulumi to end; what it wrote is in `last` then."""
        try:
            self.last, _ = process.communicate(timeout=PATIENCE)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        return process.returncode

    def pulumi(self, *arguments: str) -> int:
        """Run pulumi to its end; what it wrote is in `last` then."""
        return self.finish(self.start(*arguments))

    def must(self, *arguments: str) -> str:
        """Run a pulumi that has to succeed, and return what it wrote."""
        assert self.pulumi(*arguments) == 0, self.last
        return self.last


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> Project:
    """A project with the Python of these tests, and a stack `test` in a backend of its own."""
    state = tmp_path / "state"
    state.mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    environment = os.environ | {
        "PATH": engine.on_path(os.environ["PATH"]),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": state.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "passphrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    made = Project(folder, environment)
    made.configure()
    made.write("__main__.py", "")
    made.must("stack", "init", "test")
    return made
