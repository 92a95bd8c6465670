"""The workflows' check, as `make lint` calls it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from machine_setup.from_source.programs import WORKFLOWS
from machine_setup.versions import ACTIONLINT
from tests.bench import ROOT
from tests.go import NEEDS_GO

BROKEN = """
on: push
jobs:
  broken:
    runs-on: ubuntu-24.04
    needs: nobody
    steps:
      - run: echo ${{ github.event.issue.title }}
      - run: rm -rf $FOLDER
"""


def lint(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "machine_setup.from_source.actionlint", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_go_mod_names_the_version() -> None:
    text = (WORKFLOWS.source / "go.mod").read_text()

    assert re.findall(r"rhysd/actionlint v(\S+)", text) == [ACTIONLINT]


@NEEDS_GO
@pytest.mark.nightly
def test_finds_mistakes_in_a_workflow_and_its_scripts(tmp_path: Path) -> None:
    workflow = tmp_path / "broken.yml"
    workflow.write_text(BROKEN)

    output = lint(workflow)

    assert output.returncode == 1
    for word in ("nobody", "potentially untrusted", "SC2086"):
        assert word in output.stdout
