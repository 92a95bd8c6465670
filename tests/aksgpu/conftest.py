"""A newcomer, whose rehearsals are taken away in any case."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup import Engine
from rehearsal import cloud
from tests.aksgpu.rehearse.newcomer import Newcomer


@pytest.fixture
def newcomer(engine: Engine, tmp_path: Path) -> Iterator[Newcomer]:
    someone = Newcomer(tmp_path)
    yield someone
    cloud.stop(someone.home)
