"""What a program loads that imports the components."""

import subprocess
import sys

import pytest

LOADED = "import sys, components; print(*sys.modules, sep='\\n')"


@pytest.mark.parametrize(
    "package", ["pulumi_kubernetes.core", "pulumi_azure_native.containerservice", "aiohttp", "rich"]
)
def test_an_import_of_the_components_loads_no_resources(package: str) -> None:
    """It took 1.2 s and 34 MB, most of it for classes of Kubernetes that no component had used."""
    ended = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    modules = ended.stdout.split()
    assert "components.aks_cluster" in modules
    # The packages of the SDKs are there, and load their classes when one is used.
    assert [name for name in modules if name.startswith(f"{package}.")] == []
