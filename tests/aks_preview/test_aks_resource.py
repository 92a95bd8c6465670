"""What becomes of a pool's id, whatever the case in which the state has it."""

import asyncio
from typing import Any

import pytest

from aks_catalogue import aks_properties
from aks_preview import aks_resource
from aks_preview.aks_resource import AksResource, emptied, require_nodes
from aks_preview.aks_types import AGENT_POOL
from aks_preview.configuration import PACKAGE, SETTINGS
from provider_kit.arm import Arm, NotFoundError
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.engine_log import EngineLog
from provider_kit.provider import Recorded, Task
from provider_kit.serving import ProviderError, ResourceInitError
from tests.aks_preview.test_conflicts import PENDING, refusal

INPUTS = {"resourceGroupName": "g", "resourceName": "c", "agentPoolName": "p", "vmSize": "one"}
ID = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService"
    "/managedClusters/c/agentPools/p"
)


class BrokenArm(Arm):
    """Accepts every request, and finishes none."""

    def __init__(self) -> None:
        super().__init__(Cancellation())
        self.configuration = Configuration({"subscriptionId": "s"}, PACKAGE, SETTINGS)
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[Any] = []
        self.refusals: list[Exception] = []
        self.live: list[dict[str, Any]] = []

    async def begin(self, method: Any, resource_id: str, *content: Any, **__: Any) -> Any:
        self.requests.append((method, resource_id))
        self.bodies.append(content[1])
        if self.refusals:
            raise self.refusals.pop(0)
        content[3].is_accepted = True

    async def look(self, resource_id: str, *_: Any) -> dict[str, Any]:
        if resource_id == ID and not self.live:
            raise NotFoundError("There is none.", "NotFound: There is none.")
        return {"id": ID, "name": "p", "properties": self.live.pop(0) if resource_id == ID else {}}

    async def finish(self, *_: Any) -> dict[str, Any]:
        raise ProviderError("It broke.")


def test_a_broken_update_keeps_the_id_in_the_state() -> None:
    arm = BrokenArm()
    pools = AksResource(AGENT_POOL, arm, Cancellation(), EngineLog(None))
    recorded = ID.replace("/resourceGroups/", "/resourcegroups/")

    with pytest.raises(ResourceInitError, match="It broke") as broken:
        asyncio.run(pools.update(Task("", "p", None), recorded, Recorded({}, {}), INPUTS))

    assert broken.value.resource_id == recorded
    assert arm.requests == [("PUT", ID)]


@pytest.mark.parametrize("name", aks_properties.POOL.emptied_by)
def test_removed_properties_are_sent_as_empty_values(name: str) -> None:
    """AKS keeps what a PUT leaves out: the tags stayed."""
    arm, value = BrokenArm(), {"tags": {"a": "b"}, "nodeLabels": {"a": "b"}}.get(name, True)
    pools = AksResource(AGENT_POOL, arm, Cancellation(), EngineLog(None))

    old = Recorded({**INPUTS, name: value}, {})

    with pytest.raises(ResourceInitError):
        asyncio.run(pools.update(Task("", "p", None), ID, old, INPUTS))

    assert arm.bodies[0]["properties"] == {
        "vmSize": "one",
        name: aks_properties.POOL.emptied_by[name],
    }


def test_an_update_that_waited_sends_the_count_read_after_the_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two nodes before another operation, nine after it: the PUT made them two."""
    monkeypatch.setattr(aks_resource, "_PAUSES", (0.001, 0.001))
    scaled = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9}
    arm = BrokenArm()
    arm.refusals = [refusal(409, "OperationNotAllowed", PENDING)]
    arm.live = [{**scaled, "count": count} for count in (2, 9)]
    pools, inputs = (
        AksResource(AGENT_POOL, arm, Cancellation(), EngineLog(None)),
        {**INPUTS, **scaled, "count": 1},
    )

    with pytest.raises(ResourceInitError):
        asyncio.run(pools.update(Task("", "p", None), ID, Recorded(inputs, {}), inputs))

    assert [body["properties"]["count"] for body in arm.bodies] == [2, 9]


@pytest.mark.parametrize("count", [1, 9])
def test_an_update_keeps_the_nodes_of_an_autoscaled_pool(count: int) -> None:
    """To take minCount and maxCount out sent the program's count, whatever AKS had made of it."""
    arm = BrokenArm()
    arm.live = [{"enableAutoScaling": True, "minCount": 1, "maxCount": 9, "count": 9}]
    pools, inputs = (
        AksResource(AGENT_POOL, arm, Cancellation(), EngineLog(None)),
        {**INPUTS, "count": count},
    )
    old = Recorded({**inputs, "enableAutoScaling": True, "minCount": 1, "maxCount": 9}, {})

    with pytest.raises(ProviderError) as stopped:
        asyncio.run(pools.update(Task("", "p", None), ID, old, inputs))

    assert ("set its count to 9" in str(stopped.value)) is (count == 1)
    assert len(arm.bodies) == (0 if count == 1 else 1)


def test_an_update_keeps_the_nodes_of_an_autoscaled_inline_pool() -> None:
    live = {"agentPoolProfiles": [{"name": "a", "enableAutoScaling": True, "count": 5}]}
    with pytest.raises(ProviderError, match="AKS has scaled pool 'a' to 5 nodes"):
        require_nodes({"agentPoolProfiles": [{"name": "a", "count": 3}]}, live)
    require_nodes({"agentPoolProfiles": [{"name": "a", "count": 5}]}, live)
    require_nodes({"agentPoolProfiles": [{"name": "b", "count": 3}]}, live)


def test_a_pool_in_its_cluster_is_scaled_by_aks_no_more() -> None:
    scaled = {"name": "a", "enableAutoScaling": True}
    fixed = {"name": "a", "count": 3}
    before = {"tags": {"a": "b"}, "agentPoolProfiles": [scaled]}

    assert emptied(aks_properties.CLUSTER.emptied_by, before, {"agentPoolProfiles": [fixed]}) == {
        "tags": {},
        "agentPoolProfiles": [{**fixed, "enableAutoScaling": False}],
    }


@pytest.mark.parametrize(
    ("resource_id", "reason"),
    [
        (ID.replace("/s/", "/other/"), "is not in the configured subscription"),
        (ID.partition("/agentPools")[0], "is not the ID of a AgentPool"),
    ],
)
def test_an_id_of_something_else_is_refused(resource_id: str, reason: str) -> None:
    arm = BrokenArm()
    pools = AksResource(AGENT_POOL, arm, Cancellation(), EngineLog(None))

    with pytest.raises(ProviderError, match=reason):
        asyncio.run(pools.delete(Task("", "p", None), resource_id, {}))
    assert arm.requests == []


def of_azure_native(**more: Any) -> Recorded:
    """A pool in a state of azure-native, which does not have the names in its path."""
    outputs = {"id": ID, "name": "p", "vmSize": "one", "gpuProfile": {"driver": "Install"}}
    inputs = {**INPUTS, "gpuProfile": {"driver": "Install"}, **more}
    return Recorded(inputs, outputs | more)


MANAGED = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}
STREAMING = {"artifactStreamingProfile": {"enabled": True}}


@pytest.mark.parametrize("more", [{}, STREAMING, {"customHeaders": {"A": "b"}}])
def test_a_pool_of_azure_native_moves_to_aks_preview_only_in_a_replacement(
    more: dict[str, Any],
) -> None:
    resource = AksResource(AGENT_POOL, BrokenArm(), Cancellation(), EngineLog(None))
    inputs = {**INPUTS, "customHeaders": {}, **more}
    for replacing in (MANAGED, {"gpuProfile": {"driver": "None"}}, {"vmSize": "other"}):
        assert resource.diff(of_azure_native(), {**inputs, **replacing}).replaces


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "remove customHeaders; or create another pool"),
        ({"customHeaders": {"A": "b"}, **STREAMING}, "remove customHeaders and artifactSt"),
        (
            STREAMING,
            "az aks nodepool update --resource-group g --cluster-name c --name p "
            "--enable-artifact-streaming",
        ),
    ],
)
def test_a_pool_of_azure_native_stays_there_in_an_update(more: dict[str, Any], words: str) -> None:
    resource = AksResource(AGENT_POOL, BrokenArm(), Cancellation(), EngineLog(None))
    inputs = {**INPUTS, "gpuProfile": {"driver": "Install"}, "customHeaders": {}, **more}
    # AKS has raised the number of nodes meanwhile: that is no replacement.
    for old in (of_azure_native(), of_azure_native(count=3)):
        with pytest.raises(ProviderError, match=words):
            resource.diff(old, inputs)
