"""Runs the contract on the real plug-ins. Pulumi downloads them, so this needs the internet.

The exit code is pytest's. In a workflow of GitHub's, the job's summary names each case in which a
real plug-in does something else than the table says.
"""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from machine_setup import ensure_engine
from tests.bench import ROOT

NAMES = ("azure-native", "kubernetes")
FOLDER = ROOT / "build" / "real-plug-ins"
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


class Differences:
    """The names of the cases that failed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[2]
        if report.failed and name not in self.names:
            self.names.append(name)


def download(folder: Path) -> None:
    """Puts the plug-ins of the versions that the program uses into a folder."""
    pulumi, home = ensure_engine().pulumi, folder / "home"
    environment = {**os.environ, "PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    for name in NAMES:
        number = version(f"pulumi-{name}")
        command = [str(pulumi), "plugin", "install", "resource", name, number]
        subprocess.run(command, env=environment, check=True)
        binary = f"pulumi-resource-{name}"
        shutil.copy2(home / "plugins" / f"resource-{name}-v{number}" / binary, folder / binary)


def summary(code: int, names: list[str]) -> str:
    """What is told in the job's summary."""
    if code and not names:
        return "The contract did not run to its end: see the job's log.\n"
    if not names:
        return "The real plug-ins do what the offline plug-ins do, in every case of the contract.\n"
    listed = "".join(f"- `{name}`\n" for name in names)
    return f"The real plug-ins differ from the contract in {len(names)} cases:\n\n{listed}"


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    download(FOLDER)
    differences = Differences()
    code = pytest.main(
        [str(Path(__file__).parent), "--plugins", str(FOLDER), "-m", ""], plugins=[differences]
    )
    if file := os.environ.get(SUMMARY_VARIABLE):
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(summary(code, differences.names))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
