"""Azure's SDK for Go, as it is, against the rehearsal: pollers, pagers and errors."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup.cache import engine_cache
from machine_setup.from_source.build import Target, build
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.faults import Faults
from tests.go import NEEDS_GO
from tests.rehearsal.conftest import API_VERSION, Azure, new_cluster, wait_until_made
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.nightly, NEEDS_GO]

SOURCE = Path(__file__).with_name("go_sdk")
V = f"?api-version={API_VERSION}"
CLUSTER = "/resourceGroups/go/providers/Microsoft.ContainerService/managedClusters/c"
FOUND = {
    "state": "Succeeded",
    "listed": "system extra",
    # The last one has no items.
    "pages": 2,
    "power": "Stopped",
    "left": "system",
    "gone": "NotFound",
}


@pytest.fixture(scope="module")
def program() -> Path:
    sources = sorted(path for path in SOURCE.iterdir())
    content = b"".join(path.read_bytes() for path in sources)
    target = Target("go-sdk", ".", hashlib.sha256(content).hexdigest()[:12])
    (folder,) = build(SOURCE, [target], engine_cache() / "go-sdk", print)
    return folder / "go-sdk"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Cloud]:
    """A cloud with a cluster, where a pool takes half a second."""
    home = tmp_path / "cloud"
    azure = Azure(cloud.start(home, 0.1))
    try:
        azure.call("PUT", "/resourceGroups/go?api-version=2025-04-01", {"location": "eastus"})
        assert azure.call("PUT", f"{CLUSTER}{V}", new_cluster()).status == 201
        wait_until_made(azure, CLUSTER)
        yield azure.cloud
    finally:
        assert cloud.stop(home)


@pytest.mark.parametrize("withheld", [(), ("Retry-After", "x-ms-retry-after-ms")])
def test_a_program_with_the_go_sdk_creates_and_deletes_a_pool(
    program: Path, made: Cloud, withheld: tuple[str, ...]
) -> None:
    """With the headers that AKS does not send, and without them."""
    Faults(made.home).script({"path": ".", "without": withheld})
    done = subprocess.run(
        [program],
        env=os.environ | made.environment() | {"SSL_CERT_FILE": str(made.ca_bundle)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == FOUND
