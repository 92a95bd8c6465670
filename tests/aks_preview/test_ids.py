"""An id is what the state has, whatever the case in which AKS writes it."""

import pytest

from tests.aks_preview.conftest import Aks, PreviewBench

pytestmark = [pytest.mark.engine, pytest.mark.nightly]


def test_a_refresh_does_not_change_the_id(preview_bench: PreviewBench, aks: Aks) -> None:
    """Create recorded the id that it had asked for, Read the one that AKS answered with.

    AKS writes `resourcegroups` in lower case, so the first refresh on Azure changed the id of each
    pool. The rehearsal gave ids back as they had been asked for, and nobody saw it.
    """
    program = aks.program() + "pulumi.export('id', pool.id)\n"
    preview_bench.up(program)
    created = preview_bench.resources()["pool"]

    preview_bench.pulumi("refresh", "--yes", "--skip-preview")

    refreshed = preview_bench.resources()["pool"]
    assert refreshed["id"] == created["id"]
    assert refreshed["outputs"]["id"] == created["outputs"]["id"]
    assert preview_bench.changes() == {}

    # A program may write names otherwise than Azure: after a refresh that replaced the pool.
    preview_bench.write(program.replace(aks.group, aks.group.upper()))
    assert preview_bench.changes("--refresh") == {}
