"""Capacity: the pools of a ladder, what pods need for all of them, and the autoscaler's order."""

from dataclasses import replace
from typing import Any

import pulumi
import pytest
import yaml

from aks_catalogue import capacity
from aks_catalogue.scheduling import Taint, selects, untolerated
from components import (
    AutoscalerPriorities,
    AutoscalerPrioritiesArgs,
    GpuCapacity,
    GpuCapacityArgs,
    GpuNodePoolArgs,
    SharingArgs,
    TimeSlicingArgs,
)
from components.arguments import ArgumentsError
from tests.conftest import Deploy

RUNG = GpuNodePoolArgs(
    resource_group_name="g",
    cluster_name="c",
    pool_name="regular",
    vm_size="Standard_NC24ads_A100_v4",
    count=0,
    min_count=0,
    max_count=4,
)
SPOT = replace(RUNG, pool_name="spot", spot=True, labels={"team": "blue"})
LARGER = replace(
    RUNG, pool_name="h100", vm_size="Standard_NC40ads_H100_v5", taints=["a=b:NoExecute"]
)


def ladder(*rungs: GpuNodePoolArgs, **args: Any) -> GpuCapacity:
    more = {"capacity_name": "training", "rungs": rungs or (SPOT, RUNG, LARGER), **args}
    return GpuCapacity("training", GpuCapacityArgs(**more))


def refusal(deploy: Deploy, *rungs: GpuNodePoolArgs, **args: Any) -> str:
    with pytest.raises(ArgumentsError) as refused:
        deploy(lambda: ladder(*rungs, **args))
    return str(refused.value)


@pytest.mark.parametrize("is_output", [True, False])
def test_one_pod_fits_every_rung_and_no_other_pod_does(deploy: Deploy, is_output: bool) -> None:
    def program() -> None:
        spot = SPOT
        if is_output:
            own = pulumi.Output.from_input
            spot = replace(SPOT, labels=own({"team": "blue"}), taints=own([]))
        pulumi.export("it", ladder(spot, RUNG, LARGER).placement())

    graph = deploy(program)
    pools = {pool.inputs["agentPoolName"]: pool for pool in graph.all("AgentPool")}
    assert pools.keys() == {"spot", "regular", "h100"}
    pod = graph.exports["it"]["pod"]["spec"]
    stranger = {**pod, "tolerations": [{"key": "sku", "operator": "Exists"}]}
    for pool in pools.values():
        taints = [*map(Taint.parse, pool.inputs["nodeTaints"])]
        assert selects(pod, pool.inputs["nodeLabels"].get, name="")
        assert untolerated(pod, taints) == []
        assert Taint("aks-gpu/capacity", "training", "NoSchedule") in untolerated(stranger, taints)
    assert pools["spot"].inputs["nodeLabels"]["team"] == "blue"
    assert "a=b:NoExecute" in pools["h100"].inputs["nodeTaints"]
    assert graph.exports["it"]["nodeSelector"] == {"aks-gpu/capacity": "training"}
    assert graph.exports["it"]["poolNames"] == ["spot", "regular", "h100"]


def test_a_rung_keeps_its_name_when_others_come_before_it(deploy: Deploy) -> None:
    """Pulumi would replace a pool whose resource has another name."""
    names = []
    for rungs in ((RUNG,), (SPOT, LARGER, RUNG)):
        graph = deploy(lambda rungs=rungs: ladder(*rungs))
        names.append({(pool.parent, pool.name) for pool in graph.all("GpuNodePool")})
    assert names[0] == {("training", "training-regular")}
    assert names[0] < names[1]
    graph = deploy(lambda: ladder(RUNG, prefix=""))
    assert graph.only("GpuNodePool").name == graph.only("AgentPool").name == "regular"


def test_the_autoscaler_ranks_the_pools_of_all_capacities(deploy: Deploy) -> None:
    def program() -> None:
        names = [ladder().pool_names, pulumi.Output.from_input(["one"])]
        AutoscalerPriorities("order", AutoscalerPrioritiesArgs(pool_names=names))

    config_map = deploy(program).only("ConfigMap")
    assert config_map.parent == "order"
    assert config_map.inputs["metadata"] == {
        "name": "cluster-autoscaler-priority-expander",
        "namespace": "kube-system",
    }
    read = yaml.safe_load(config_map.inputs["data"]["priorities"])
    assert read == {30: ["^aks-spot-"], 20: ["^aks-regular-"], 10: ["^aks-h100-", "^aks-one-"]}


def test_a_preview_knows_the_order_also_of_rungs_that_rotate(deploy: Deploy) -> None:
    """Each rotation of a rung failed its review: a rule could not read the ConfigMap."""

    def program() -> None:
        rungs = (replace(SPOT, replacement="rotate"), RUNG)
        names = [ladder(*rungs).pool_names]
        AutoscalerPriorities("order", AutoscalerPrioritiesArgs(pool_names=names))

    graph = deploy(program, preview=True)
    names = [pool.inputs["agentPoolName"] for pool in graph.all("AgentPool")]
    (rotating,) = (name for name in names if name != "regular")
    assert len(rotating) == len("spot") + 3
    read = yaml.safe_load(graph.only("ConfigMap").inputs["data"]["priorities"])
    assert read == {20: [f"^aks-{rotating}-"], 10: ["^aks-regular-"]}


def test_no_capacity_means_an_empty_order() -> None:
    assert capacity.priorities([]) == ""


SLICED = SharingArgs(time_slicing=TimeSlicingArgs(replicas=4, rename=True))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(RUNG, max_count=None, min_count=None), "rungs[1].maxCount: is required"),
        (
            replace(RUNG, vm_size="Standard_NC8as_T4_v3"),
            "rungs[1].vmSize: Standard_NC8as_T4_v3 has fewer GPUs, or less memory on each, than "
            "Standard_NC24ads_A100_v4",
        ),
        (replace(RUNG, sharing=SLICED), "rungs[1]: use the same migProfile, migStrategy and"),
        (replace(RUNG, mig_profile="MIG1g"), "rungs[1]: use the same migProfile, migStrategy and"),
        (
            replace(RUNG, extra={"scaleDownMode": "Deallocate"}),
            "rungs[1].extra: scaleDownMode: Deallocate keeps AKS on a rung",
        ),
        (
            replace(RUNG, labels={"aks-gpu/capacity": "other"}),
            "rungs[1].labels.aks-gpu/capacity: is set by the capacity; remove it",
        ),
        (replace(RUNG, vm_size="Standard_D4ds_v5"), "rungs[1].vmSize: 'Standard_D4ds_v5' has no"),
    ],
)
def test_a_rung_that_cannot_stand_in_for_the_others_is_refused(
    deploy: Deploy, wrong: GpuNodePoolArgs, words: str
) -> None:
    assert words in refusal(deploy, SPOT, wrong)


def test_the_smallest_size_can_stand_below_a_larger_one(deploy: Deploy) -> None:
    """The reserved H100s come first, and pods are made for the A100s."""
    assert "rungs[1].vmSize" in refusal(deploy, LARGER, RUNG)
    deploy(lambda: ladder(LARGER, RUNG, vm_size="standard_nc24ads_a100_v4"))


@pytest.mark.parametrize("name", ["Training", "1st", "a" * 41, "a-", ""])
def test_a_name_that_labels_nothing_is_refused(deploy: Deploy, name: str) -> None:
    assert "capacityName" in refusal(deploy, capacity_name=name)


def test_a_capacity_has_a_rung(deploy: Deploy) -> None:
    with pytest.raises(ArgumentsError, match="rungs: needs at least one rung"):
        deploy(lambda: GpuCapacity("it", GpuCapacityArgs(capacity_name="it", rungs=[])))
