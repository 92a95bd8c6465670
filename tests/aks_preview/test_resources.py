"""What programs import of the provider."""

import subprocess
import sys

from tests.bench import ROOT


def test_a_program_loads_neither_azure_nor_a_server() -> None:
    code = (
        "import sys; import pulumi; before = set(sys.modules); import aks_preview.resources;"
        "more = set(sys.modules) - before;"
        "print([name for name in more if not name.startswith(('aks_preview', 'catalogue'))])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"
