"""What becomes of a pool's id, whatever the case in which the state has it."""

import asyncio
from typing import Any

import pytest

from aks_preview.aks_resource import AksResource, emptied
from aks_preview.aks_types import AGENT_POOL
from aks_preview.configuration import PACKAGE, SETTINGS
from catalogue import kept
from provider_kit.arm import Arm
from provider_kit.cancellation import Cancellation
from provider_kit.configuration import Configuration
from provider_kit.provider import Recorded, Task
from provider_kit.serving import ProviderError, ResourceInitError

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

    async def begin(self, method: Any, resource_id: str, *content: Any, **__: Any) -> Any:
        self.requests.append((method, resource_id))
        self.bodies.append(content[1])

    async def finish(self, *_: Any) -> dict[str, Any]:
        raise ProviderError("It broke.")


def test_an_update_that_broke_keeps_the_id_of_the_state() -> None:
    arm = BrokenArm()
    pools = AksResource(AGENT_POOL, arm, Cancellation())
    recorded = ID.replace("/resourceGroups/", "/resourcegroups/")

    with pytest.raises(ResourceInitError, match="It broke") as broken:
        asyncio.run(pools.update(Task("", "p", None), recorded, Recorded({}, {}), INPUTS))

    assert broken.value.resource_id == recorded
    assert arm.requests == [("PUT", ID)]


@pytest.mark.parametrize("name", kept.EMPTY_POOL)
def test_what_is_taken_out_is_sent_as_nothing(name: str) -> None:
    """AKS keeps what a PUT leaves out: the tags stayed."""
    arm, value = BrokenArm(), {"tags": {"a": "b"}, "nodeLabels": {"a": "b"}}.get(name, True)
    pools = AksResource(AGENT_POOL, arm, Cancellation())

    old = Recorded({**INPUTS, name: value}, {})

    with pytest.raises(ResourceInitError):
        asyncio.run(pools.update(Task("", "p", None), ID, old, INPUTS))

    assert arm.bodies[0]["properties"] == {"vmSize": "one", name: kept.EMPTY_POOL[name]}


def test_a_pool_in_its_cluster_is_scaled_by_aks_no_more() -> None:
    scaled = {"name": "a", "enableAutoScaling": True}
    fixed = {"name": "a", "count": 3}
    before = {"tags": {"a": "b"}, "agentPoolProfiles": [scaled]}

    assert emptied(kept.EMPTY_CLUSTER, before, {"agentPoolProfiles": [fixed]}) == {
        "tags": {},
        "agentPoolProfiles": [{**fixed, "enableAutoScaling": False}],
    }


@pytest.mark.parametrize(
    ("resource_id", "reason"),
    [
        (ID.replace("/s/", "/other/"), "lies in another subscription"),
        (ID.partition("/agentPools")[0], "is no id of a AgentPool"),
    ],
)
def test_an_id_of_something_else_is_refused(resource_id: str, reason: str) -> None:
    arm = BrokenArm()
    pools = AksResource(AGENT_POOL, arm, Cancellation())

    with pytest.raises(ProviderError, match=reason):
        asyncio.run(pools.delete(Task("", "p", None), resource_id, {}))
    assert arm.requests == []
