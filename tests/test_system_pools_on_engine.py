"""The cluster's first system pool is replaced by another, as docs/system-pools.md says."""

from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure
from tests.test_stacks_on_engine import POOL, stack, up, update

pytestmark = [pytest.mark.engine, pytest.mark.long]


def test_the_first_system_pool_is_replaced_and_the_cluster_stays(bench: Bench) -> None:
    """Another size of the system pool is an update that AKS refuses; it took a new cluster."""
    name, azure = unique("rotation"), Azure(bench.cloud)
    azure.register("Microsoft.Compute", "EncryptionAtHost")
    larger = {"name": "larger", "vmSize": "Standard_D8ds_v5"}

    def of(*system_pools: dict[str, Any], **more: Any) -> dict[str, Any]:
        return stack(name, POOL, systemPools=[*system_pools], **more)

    update(bench, of())
    cluster = bench.resources()["cluster"]
    assert update(bench, of(larger)) == {"larger": "create"}
    removed: dict[str, Any] = {"systemPool": {"removed": True}}
    assert up(bench, of(larger, **removed)) == {"cluster": "update"}
    put = bench.requests("PUT", name)[-1]
    assert "agentPoolProfiles" not in put["body"]["properties"]

    path = cluster["id"].partition(bench.cloud.subscription)[2]
    first = f"{path}/agentPools/system?api-version={API_VERSION}"
    assert azure.call("DELETE", first).status == 202
    azure.wait(first, lambda reply: reply.status == 404)
    tagged = up(bench, of(larger, **removed, tags={"team": "a"}))
    assert set(tagged.values()) == {"update"}
    now = bench.resources()["cluster"]["outputs"]
    assert now["resourceUID"] == cluster["outputs"]["resourceUID"]

    # Only GPU pools could be encrypted and protected: the rule of an organization that asks for
    # either was not met. Encryption is fixed when a pool is made: another one takes its place.
    two: dict[str, Any] = {"name": "two"}
    more: dict[str, Any] = {**removed, "tags": {"team": "a"}}
    update(bench, of(larger, two, **more))
    two |= {"hostEncryption": True}
    assert update(bench, of(larger, two, **more)) == {"two": "replace"}
    sent = bench.requests("PUT", "agentPools/two")[-1]["body"]["properties"]
    assert sent["enableEncryptionAtHost"] is True
    two |= {"protect": True}
    update(bench, of(larger, two, **more))
    bench.write_stack(of(larger, {**two, "vmSize": "Standard_D8ds_v5"}, **more))
    assert "protect" in bench.pulumi("preview", fails=True)
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
