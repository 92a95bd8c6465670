"""Stacks of other programs that were rehearsed on the same cloud."""

import pytest

from tests.aksgpu.rehearse.newcomer import Newcomer
from tests.bench import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROJECT = f"""
name: other
runtime:
  name: python
  options: {{virtualenv: {ROOT}/.venv}}
"""
PROGRAM = """
from pulumi_azure_native import resources

resources.ResourceGroup("group", resource_group_name="others", location="eastus")
"""


def test_a_stack_of_another_project_is_destroyed_too(newcomer: Newcomer) -> None:
    """It was looked for in the rehearsal's own project, and rehearse-down ended with code 1."""
    newcomer.start_cloud(0.05)
    other = newcomer.root / "other"
    other.mkdir()
    (other / "Pulumi.yaml").write_text(PROJECT)
    (other / "__main__.py").write_text(PROGRAM)
    newcomer.shell(
        f"export PULUMI_OPTION_CWD={other} PULUMI_STACK=try"
        " && pulumi stack init try && pulumi up --yes --skip-preview"
    )
    assert "other/try" in newcomer.run("status")

    assert "The stack other/try is destroyed." in newcomer.run("rehearse-down")
    assert not newcomer.home.exists()
