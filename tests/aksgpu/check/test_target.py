"""Which cluster is a stack's, and whether it is rehearsed."""

from pathlib import Path

import pytest
import yaml

from aksgpu.check.target import of_resources
from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, rehearsal_home
from aksgpu.running import Program

KUBECONFIG = yaml.safe_dump({"current-context": ""})
STATE = [{"type": "pulumi:pulumi:Stack", "outputs": {"kubeconfig": KUBECONFIG}}]
ROOT_VARIABLE, BACKEND = "AKS_GPU_REHEARSAL_ROOT", "PULUMI_BACKEND_URL"


def test_the_check_of_a_real_stack_leaves_no_rehearsal_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wrote a passphrase into its home: no check said any more that nothing is rehearsed."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    pulumi = Program(("pulumi",), tmp_path, {BACKEND: "https://api.pulumi.com"})

    target = of_resources(STATE, pulumi, "prod")

    assert (target.title, target.expected.restoring_command) == (
        "The stack prod",
        "pulumi up --refresh",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsed_stack_is_known_by_its_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    environment = Project(PROGRAM, rehearsal_home()).environment()
    target = of_resources(STATE, Program(("pulumi",), tmp_path, environment), "dev")
    assert (target.title, target.expected.restoring_command) == (
        "The rehearsed stack dev",
        "make rehearse STACK=dev",
    )
    # And in a shell of `aksgpu env`.
    monkeypatch.setenv(BACKEND, environment[BACKEND])
    assert of_resources(STATE, Program(("pulumi",), tmp_path), "dev").title == target.title
