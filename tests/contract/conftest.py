"""Where the contracts run: the offline plug-ins, or the real plug-ins of `--plugins FOLDER`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.faults import Faults


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--plugins",
        dest="plugin_folder",
        type=Path,
        default=None,
        help="run the contracts with the real plug-ins (pulumi-resource-NAME) of this folder",
    )


@pytest.fixture(scope="session")
def plugin_folder(pytestconfig: pytest.Config) -> Path | None:
    """The folder of real plug-ins; None is for the offline plug-ins."""
    # A run of all tests reads this file too late to know the option.
    folder: Path | None = pytestconfig.getoption("plugin_folder", default=None)
    return folder


@dataclass(frozen=True)
class ScriptedArm:
    """A rehearsal cloud whose answers a test writes: to a plug-in it is Azure."""

    cloud: Cloud

    def answer(self, path: str, status: int, body: Any) -> None:
        """From now on this is what a GET of the path is answered, and nothing else is scripted."""
        fault = {"method": "GET", "path": f"{path}$", "status": status, "body": body}
        Faults(self.cloud.home).script(fault)


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedArm]:
    home = tmp_path_factory.mktemp("contract-cloud")
    yield ScriptedArm(cloud.start(home, time_scale=0.005))
    cloud.stop(home)
