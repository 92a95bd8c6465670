"""A node pool without GPUs: what it sends, and what it refuses."""

from typing import Any

import pytest

from components import NodePool, NodePoolArgs, SystemNodePool, SystemNodePoolArgs
from components.arguments import ArgumentsError
from tests.conftest import Deploy

PLACE: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c"}


def node_pool(**args: Any) -> NodePool:
    more = {"pool_name": "cpu", "vm_size": "Standard_D4ds_v5", **args}
    return NodePool("cpu", NodePoolArgs(**PLACE, **more))


@pytest.mark.parametrize("preview", [True, False])
def test_it_is_a_pool_of_its_own_in_mode_user(deploy: Deploy, preview: bool) -> None:
    args: dict[str, Any] = {
        "min_count": 0,
        "max_count": 3,
        "zones": ["2", "1"],
        "taints": ["ingress=only:NoSchedule"],
        "labels": {"work": "ingress"},
    }
    graph = deploy(lambda: node_pool(**args), preview=preview)
    pool = graph.only("AgentPool")
    assert pool.type.startswith("azure-native:")
    assert pool.parent == "cpu"
    assert pool.inputs.items() >= {
        "agentPoolName": "cpu",
        "mode": "User",
        "osType": "Linux",
        "enableAutoScaling": True,
        "minCount": 0,
        "availabilityZones": ["1", "2"],
        "nodeTaints": ["ingress=only:NoSchedule"],
        "nodeLabels": {"work": "ingress"},
    }.items()  # fmt: skip
    assert "gpuProfile" not in pool.inputs
    assert "count" in pool.options.ignoreChanges
    assert next(iter(graph.outputs.values()))["poolName"] == "cpu"


def test_a_spot_pool_has_the_taint_and_the_label_of_aks(deploy: Deploy) -> None:
    pool = deploy(lambda: node_pool(spot=True, spot_max_price=0.5)).only("AgentPool").inputs
    assert (pool["scaleSetPriority"], pool["scaleSetEvictionPolicy"]) == ("Spot", "Delete")
    assert pool["spotMaxPrice"] == 0.5
    assert pool["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert pool["nodeLabels"] == {"kubernetes.azure.com/scalesetpriority": "spot"}


def test_mistakes_are_told_at_once(deploy: Deploy) -> None:
    wrong: dict[str, Any] = {"pool_name": "CPU", "vm_size": "Standard_NC8as_T4_v3", "taints": ["a"]}
    with pytest.raises(ArgumentsError) as refused:
        deploy(lambda: node_pool(**wrong))
    for words in (
        "poolName: 'CPU' is not a valid pool name",
        "vmSize: 'Standard_NC8as_T4_v3' has GPUs",
        "taints[0]: 'a' is not a valid taint",
    ):
        assert words in str(refused.value)


def test_a_system_pool_takes_the_taint_of_system_pools(deploy: Deploy) -> None:
    def system(*taints: str) -> SystemNodePool:
        more: dict[str, Any] = {"pool_name": "s", "vm_size": "Standard_D4ds_v5"}
        return SystemNodePool("s", SystemNodePoolArgs(**PLACE, **more, taints=[*taints]))

    alone = "CriticalAddonsOnly=true:NoSchedule"
    pool = deploy(lambda: system(alone, "a=b:PreferNoSchedule")).only("AgentPool").inputs
    assert pool["nodeTaints"] == [alone, "a=b:PreferNoSchedule"]
    for taint in ("a=b:NoSchedule", "CriticalAddonsOnlyX=true:NoExecute", "PreferNo=1:NoSchedule"):
        with pytest.raises(ArgumentsError, match="keeps AKS's own pods away"):
            deploy(lambda taint=taint: system(taint))
