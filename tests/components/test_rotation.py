"""Pools with `replacement: rotate`, and what finds them."""

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from aks_catalogue import aks_properties, rotation
from components import GpuNodePool, NvidiaDevicePlugin, NvidiaDevicePluginArgs, PluginPoolArgs
from components.arguments import ArgumentsError
from tests.components.test_fixed_on_engine import BY_ARGUMENTS
from tests.components.test_gpu_node_pool import ARGS
from tests.conftest import Deploy, Registered

ROTATING = replace(ARGS, replacement="rotate")


def pool_of(deploy: Deploy, *, preview: bool = False, **changes: Any) -> Registered:
    program = lambda: GpuNodePool("gpu", replace(ROTATING, **changes))  # noqa: E731
    return deploy(program, preview=preview).only("AgentPool")


def name_of(deploy: Deploy, **changes: Any) -> str:
    name: str = pool_of(deploy, **changes).inputs["agentPoolName"]
    return name


@pytest.mark.parametrize("preview", [True, False])
def test_a_rotating_pool_is_created_before_the_old_one_is_deleted(
    deploy: Deploy, preview: bool
) -> None:
    pool = pool_of(deploy, preview=preview, labels={"team": "a"})
    assert not pool.options.deleteBeforeReplace
    assert pool.options.deleteBeforeReplaceDefined
    assert "agentPoolName" in pool.options.ignoreChanges
    assert pool.inputs["agentPoolName"].startswith("gpu")
    assert len(pool.inputs["agentPoolName"]) == 6
    assert pool.inputs["nodeLabels"] == {
        "team": "a",
        "aks-gpu/pool": "gpu",
        "aks-gpu/stack": "device-plugin",
    }


@pytest.mark.parametrize("path", BY_ARGUMENTS)
def test_a_replacement_changes_the_pools_name(deploy: Deploy, path: str) -> None:
    """Two pools cannot have one name: the new one could not be created."""
    before, after = BY_ARGUMENTS[path]
    assert path in aks_properties.POOL.fixed
    assert name_of(deploy, **before) != name_of(deploy, **after)


def test_headers_that_replace_the_pool_change_its_name(deploy: Deploy) -> None:
    def name(headers: dict[str, str] | None, *, replaces: bool) -> str:
        return name_of(deploy, custom_headers=headers, replace_on_header_change=replaces)

    names = [name(headers, replaces=True) for headers in (None, {}, {"A": "b"}, {"A": "c"})]
    assert len({*names}) == len(names)
    assert name({"A": "b"}, replaces=False) == name({"A": "c"}, replaces=False)


def test_a_change_in_place_does_not_change_the_pools_name(deploy: Deploy) -> None:
    changes = {"count": 3, "labels": {"a": "b"}, "taints": ["a=b:NoSchedule"], "tags": {"a": "b"}}
    assert name_of(deploy) == name_of(deploy, **changes)


def test_an_unknown_value_makes_the_name_unknown(deploy: Deploy) -> None:
    """A preview has to go on without it."""
    graph = deploy(
        lambda: GpuNodePool("gpu", replace(ROTATING, subnet_id=_unknown())), preview=True
    )
    assert not isinstance(graph.only("AgentPool").inputs["agentPoolName"], str)


def _unknown() -> pulumi.Output[str]:
    async def future(value: Any) -> Any:
        return value

    pending = [future(value) for value in (None, False, False)]
    return pulumi.Output(set(), *pending)


def test_the_plugin_selects_a_rotating_pool_by_labels(deploy: Deploy) -> None:
    """The plugin that the new pool needs may be none for the old one, which has the same label."""

    def program() -> None:
        pools = [
            GpuNodePool("gpu", ROTATING),
            GpuNodePool("fixed", replace(ARGS, pool_name="fixed")),
        ]
        of_pools = [PluginPoolArgs.of(pool) for pool in pools]
        NvidiaDevicePlugin("plugin", NvidiaDevicePluginArgs(pools=of_pools))
        pulumi.export("selector", pools[0].node_selector)

    graph = deploy(program)
    daemon_set = graph.only("DaemonSet").inputs
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    expressions = [
        {each["key"]: each["values"] for each in term["matchExpressions"]} for term in terms
    ]
    assert expressions == [
        {"kubernetes.azure.com/agentpool": ["fixed"]},
        {"aks-gpu/pool": ["gpu"], "aks-gpu/stack": ["device-plugin"]},
    ]
    assert daemon_set["metadata"]["annotations"].keys() == {"aks-gpu/pools"}
    assert graph.exports["selector"] == {"aks-gpu/pool": "gpu"}


def test_a_mig_pool_has_its_own_plugin_label(deploy: Deploy) -> None:
    mig = {"vm_size": "Standard_NC24ads_A100_v4", "mig_profile": "MIG1g"}
    labels = pool_of(deploy, preview=False, **mig).inputs["nodeLabels"]
    assert labels[rotation.STACK_LABEL] == "device-plugin-mig"


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"pool_name": "tencharact"}, "poolName: 'tencharact' is too long for replacement: rotate"),
        ({"labels": {"aks-gpu/pool": "a"}}, "is set by replacement: rotate"),
        ({"replacement": "blue"}, "replacement:"),
    ],
)
def test_a_rotating_pool_refuses_invalid_arguments(
    deploy: Deploy, changes: dict[str, Any], mistake: str
) -> None:
    with pytest.raises(ArgumentsError, match=mistake):
        pool_of(deploy, preview=False, **changes)
    if "replacement" not in changes:
        in_place: dict[str, Any] = {**changes, "replacement": "in-place"}
        assert pool_of(deploy, preview=False, **in_place)
