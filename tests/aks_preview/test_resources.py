"""What programs import of the provider."""

import subprocess
import sys

from tests.bench import ROOT


def test_a_program_loads_neither_azure_nor_a_server() -> None:
    code = (
        "import sys; import pulumi; before = set(sys.modules); import aks_preview.resources;"
        "print([name for name in set(sys.modules) - before if not name.startswith('aks_preview')])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"
