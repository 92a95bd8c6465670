"""Kubernetes versions on the engine: upgrades in AKS's order, and channels that upgrade."""

import functools
from typing import Any

import pytest

from tests.bench import Bench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure, wait_until_made
from tests.test_stacks_on_engine import POOL, stack, up, update

pytestmark = [pytest.mark.engine, pytest.mark.long]


def cluster_of(bench: Bench) -> str:
    path: str = bench.resources()["cluster"]["id"].partition(bench.cloud.subscription)[2]
    return path


def properties(azure: Azure, path: str) -> dict[str, Any]:
    body = azure.call("GET", f"{path}?api-version={API_VERSION}").body
    values: dict[str, Any] = body["properties"]
    return values


def put(azure: Azure, path: str, **changes: Any) -> None:
    """What AKS does of itself: a PUT of all that is there, with a change."""
    address = f"{path}?api-version={API_VERSION}"
    body = azure.call("GET", address).body
    body["properties"] |= changes
    answer = azure.call("PUT", address, body)
    assert answer.status == 200, answer
    wait_until_made(azure, path)


def puts(bench: Bench) -> list[str]:
    return [request["path"].rpartition("/")[2] for request in bench.requests("PUT")]


def test_pools_are_upgraded_after_their_cluster(bench: Bench) -> None:
    """GPU pools had no version: the control plane went on, and the GPU nodes stayed behind."""
    name, azure = unique("upgrade"), Azure(bench.cloud)
    behind = {**POOL, "name": "behind", "kubernetesVersion": "1.34"}

    def of(version: str) -> dict[str, Any]:
        return stack(name, POOL, behind, cluster={"name": name, "kubernetesVersion": version})

    update(bench, of("1.34"))
    before = len(puts(bench))
    cluster = cluster_of(bench)

    assert update(bench, of("1.35")) == {"cluster": "update", "gpu": "update"}
    assert puts(bench)[before:] == [name, "gpu"]
    assert properties(azure, cluster)["currentKubernetesVersion"] == "1.35.9"
    pools = f"{cluster}/agentPools"
    versions = {
        pool: properties(azure, f"{pools}/{pool}")["currentOrchestratorVersion"]
        for pool in ("gpu", "behind", "system")
    }
    # The system pool is upgraded by its own address: AKS takes no version of it with the cluster's.
    assert versions == {"gpu": "1.35.9", "behind": "1.34.12", "system": "1.34.12"}
    put(azure, f"{pools}/system", orchestratorVersion="1.35")
    assert bench.changes() == {}
    assert set(bench.changes("--refresh")) <= {"cluster"}
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


@pytest.mark.nightly
def test_an_update_after_an_upgrade_by_aks_requests_no_older_version(bench: Bench) -> None:
    """The next update of a tag sent the old version, and AKS refused to go back."""
    name, azure = unique("channel"), Azure(bench.cloud)

    for channel, first, raised in (("patch", "1.35", "1.35.9"), ("stable", "", "1.36")):
        cluster = {"name": name, "kubernetesVersion": first, "upgradeChannel": channel}
        of = functools.partial(stack, name, POOL, cluster=cluster)
        up(bench, of(tags={"team": channel}))
        path = cluster_of(bench)
        put(azure, path, kubernetesVersion=raised, agentPoolProfiles=None)
        for pool in ("system", "gpu"):
            put(azure, f"{path}/agentPools/{pool}", orchestratorVersion=raised)

        up(bench, of(tags={"team": "a"}))
        bench.pulumi("refresh", "--yes", "--skip-preview")
        up(bench, of(tags={"team": "b"}))

        current = properties(azure, path)["currentKubernetesVersion"]
        assert current.startswith(raised)
        assert properties(azure, f"{path}/agentPools/gpu")["currentOrchestratorVersion"] == current
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
