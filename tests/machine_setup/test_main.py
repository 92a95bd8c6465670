"""`python -m machine_setup`, as people type it."""

import subprocess
import sys


def test_an_unknown_argument_installs_nothing() -> None:
    """`python -m machine_setup helmet` installed Pulumi."""
    command = [sys.executable, "-m", "machine_setup", "helmet"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert outcome.stderr == "usage: python -m machine_setup [kubernetes | helm | deploying]\n"
