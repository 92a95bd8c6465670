"""Clusters, and the pools that say so, are protected by Pulumi: no typo takes them away."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "protect": True}


def stack(name: str, pool: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    return {
        "resourceGroup": {"name": name},
        "cluster": {"name": name, **cluster},
        "gpuStack": "none",
        "gpuPools": [pool],
    }


def test_protected_resources_are_kept_until_the_stack_file_unprotects_them(bench: Bench) -> None:
    """An edit of the pods' range, or of a pool's size, planned a deletion nobody had asked for."""
    name = unique("protected")
    bench.write_stack(stack(name, POOL))
    bench.pulumi("up", "--yes", "--skip-preview")

    ours = stack(name, POOL)
    refused: list[dict[str, Any]] = [
        ours | {"network": {"podCidr": "10.100.0.0/16"}},
        ours | {"location": "westeurope"},
        stack(name, POOL, dnsPrefix="other"),
        stack(name, POOL, existing=True),
        ours | {"resourceGroup": {"name": name, "existing": True}},
        stack(name, {**POOL, "vmSize": "Standard_NC16as_T4_v3"}),
        ours | {"gpuPools": []},
    ]
    for config in refused:
        bench.write_stack(config)
        assert "protect" in bench.pulumi("preview", fails=True)
    bench.pulumi("up", "--yes", "--skip-preview", fails=True)
    bench.write_stack(ours)
    bench.pulumi("destroy", "--yes", "--skip-preview", fails=True)
    assert not bench.requests("DELETE", "managedClusters")

    bench.write_stack(stack(name, {**POOL, "protect": False}, protect=False))
    assert bench.update() == {}
    bench.pulumi("destroy", "--yes", "--skip-preview")
    assert bench.resources() == {}
