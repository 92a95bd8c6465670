"""The cluster's first system pool is replaced by another, as docs/system-pools.md says."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure
from tests.test_stacks_on_engine import POOL, stack, up

pytestmark = [pytest.mark.engine, pytest.mark.long]


def test_the_first_system_pool_is_replaced_and_the_cluster_stays(whole_bench: Bench) -> None:
    """Another size of the system pool is an update that AKS refuses; it took a new cluster."""
    name, azure = unique("rotation"), Azure(whole_bench.cloud)
    larger = {"name": "larger", "vmSize": "Standard_D8ds_v5"}

    def of(*system_pools: dict[str, Any], **more: Any) -> dict[str, Any]:
        return stack(name, POOL, systemPools=[*system_pools], **more)

    up(whole_bench, of())
    cluster = whole_bench.resources()["cluster"]
    assert up(whole_bench, of(larger)) == {"larger": "create"}
    removed: dict[str, Any] = {"systemPool": {"removed": True}}
    assert up(whole_bench, of(larger, **removed)) == {"cluster": "update"}
    put = whole_bench.requests("PUT", name)[-1]
    assert "agentPoolProfiles" not in put["body"]["properties"]

    path = cluster["id"].partition(whole_bench.cloud.subscription)[2]
    first = f"{path}/agentPools/system?api-version={API_VERSION}"
    assert azure.call("DELETE", first).status == 202
    azure.wait(first, lambda reply: reply.status == 404)
    tagged = up(whole_bench, of(larger, **removed, tags={"team": "a"}))
    assert set(tagged.values()) == {"update"}
    assert (
        whole_bench.resources()["cluster"]["outputs"]["resourceUID"]
        == (cluster["outputs"]["resourceUID"])
    )
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_a_further_system_pool_is_encrypted_and_protected_as_gpu_pools(whole_bench: Bench) -> None:
    """Only GPU pools could be: the rule of an organization that asks for either was not met."""
    name = unique("further")
    Azure(whole_bench.cloud).register("Microsoft.Compute", "EncryptionAtHost")

    def of(**keys: Any) -> dict[str, Any]:
        return stack(name, systemPools=[{"name": "two", **keys}])

    up(whole_bench, of())
    # Fixed when a pool is made: another one takes its place.
    assert up(whole_bench, of(hostEncryption=True)) == {"two": "replace"}
    sent = whole_bench.requests("PUT", "agentPools/two")[-1]["body"]["properties"]
    assert sent["enableEncryptionAtHost"] is True
    whole_bench.write_stack(of(hostEncryption=True, protect=True))
    whole_bench.pulumi("up", "--yes", "--skip-preview")
    larger = {"vmSize": "Standard_D8ds_v5"}
    whole_bench.write_stack(of(hostEncryption=True, protect=True, **larger))
    assert "protect" in whole_bench.pulumi("preview", fails=True)
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
