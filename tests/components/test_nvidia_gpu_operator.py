"""The GPU Operator: its Helm release and the values in which its parts fit together."""

from typing import Any

import pulumi
import pytest

from aks_catalogue import gpu_operator
from components import (
    GpuNodePool,
    GpuNodePoolArgs,
    NvidiaGpuOperator,
    NvidiaGpuOperatorArgs,
    OperatorPoolArgs,
)
from tests.conftest import Deploy, Graph

SKU = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
OWN = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
DEDICATED = {"key": "team", "operator": "Exists", "effect": "NoExecute"}
TAINTED = OperatorPoolArgs(node_taints=["sku=gpu:NoSchedule"])


def operator(*pools: OperatorPoolArgs, **more: Any) -> NvidiaGpuOperator:
    return NvidiaGpuOperator("operator", NvidiaGpuOperatorArgs(pools=pools or [TAINTED], **more))


def values(graph: Graph) -> dict[str, Any]:
    chart_values: dict[str, Any] = graph.only("Release").inputs["values"]
    return chart_values


def test_the_release_is_nvidias_pinned_chart_in_its_own_namespace(deploy: Deploy) -> None:
    graph = deploy(operator)
    release = {**graph.only("Release").inputs}
    del release["values"]
    assert release == {
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "chart": "gpu-operator",
        "compat": "true",
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "version": gpu_operator.VERSION,
        "timeout": 1800,
    }
    assert graph.only("Namespace").inputs["metadata"]["name"] == "gpu-operator"
    (outputs,) = graph.outputs.values()
    assert outputs["namespace"] == "gpu-operator"


@pytest.mark.parametrize("driver", gpu_operator.PROFILES)
def test_driver_and_toolkit_have_one_owner(deploy: Deploy, driver: str) -> None:
    chart_values = values(deploy(lambda: operator(driver=driver)))
    is_operators = driver == "operator"
    assert chart_values["driver"] == {"enabled": is_operators}
    assert chart_values["toolkit"]["enabled"] is is_operators
    assert (chart_values.get("operator") == {"runtimeClass": "nvidia-container-runtime"}) is (
        not is_operators
    )


def test_the_toolkit_writes_its_configuration_for_containerd_of_aks(deploy: Deploy) -> None:
    """Else it takes the version of the effective configuration, and containerd does not start."""
    env = [{"name": "A", "value": "b"}]
    chart_values = values(
        deploy(lambda: operator(driver="operator", values={"toolkit": {"env": env}}))
    )
    assert chart_values["toolkit"]["env"] == [
        *env,
        {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"},
    ]


def test_operands_tolerate_the_taints_of_the_operators_pools(deploy: Deploy) -> None:
    """The chart tolerates nvidia.com/gpu alone, and no pod would reach a pool of this project."""
    chart_values = values(
        deploy(
            lambda: operator(
                TAINTED,
                OperatorPoolArgs(node_taints=pulumi.Output.from_input(["team:NoExecute"])),
                OperatorPoolArgs(gpu_stack="none", node_taints=["other=x:NoSchedule"]),
            )
        )
    )
    worker = chart_values["node-feature-discovery"]["worker"]["tolerations"]
    assert chart_values["daemonsets"]["tolerations"] == [OWN, SKU, DEDICATED]
    assert worker[1:] == [OWN, SKU, DEDICATED]


def test_operands_tolerate_each_taint_once(deploy: Deploy) -> None:
    """An empty value is no value: `a=:NoSchedule` and `a:NoSchedule` were tolerated one by one."""
    taints = ["a=:NoSchedule", "a:NoSchedule", "nvidia.com/gpu:NoSchedule", "a:NoSchedule"]
    chart_values = values(deploy(lambda: operator(OperatorPoolArgs(node_taints=taints))))
    once = [OWN, {"key": "a", "operator": "Exists", "effect": "NoSchedule"}]
    assert chart_values["daemonsets"]["tolerations"] == once
    assert chart_values["node-feature-discovery"]["worker"]["tolerations"][1:] == once


def test_feature_discovery_is_rolled_out_in_the_time_that_helm_waits(deploy: Deploy) -> None:
    """One node after the other, an upgrade of 180 nodes took 45 minutes, and Helm waits for it."""

    def strategy(**nfd: Any) -> Any:
        chart_values = values(deploy(lambda: operator(values={"node-feature-discovery": nfd})))
        return chart_values["node-feature-discovery"]["worker"]["updateStrategy"]

    assert strategy() == {"rollingUpdate": {"maxUnavailable": "10%"}}
    assert strategy(worker={"updateStrategy": {"type": "OnDelete"}}) == {"type": "OnDelete"}


def test_values_of_the_user_are_merged_deeply(deploy: Deploy) -> None:
    mine = {"key": "mine", "operator": "Exists"}
    users = {
        "daemonsets": {"tolerations": [mine], "labels": {"a": "b"}},
        "driver": {"version": "595.91.07"},
        "dcgmExporter": {"enabled": pulumi.Output.from_input(False)},
    }
    chart_values = values(deploy(lambda: operator(values=users)))
    assert chart_values["daemonsets"] == {"tolerations": [mine, OWN, SKU], "labels": {"a": "b"}}
    assert chart_values["driver"] == {"version": "595.91.07", "enabled": False}
    assert chart_values["dcgmExporter"] == {"enabled": False}


def test_mig_manager_does_not_change_the_partitions_of_aks(deploy: Deploy) -> None:
    """Its default, `all-disabled`, would make whole GPUs of them again."""
    chart_values = values(deploy(lambda: operator(OperatorPoolArgs(has_mig=True))))
    assert chart_values["migManager"] == {"enabled": False}
    assert "migManager" not in values(deploy(operator))


MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    ({"driver": "nvidia"}, ["driver: must be 'aks' or 'operator', not 'nvidia'"]),
    ({"version": "26.7.0"}, ["version: '26.7.0' is not a version of the chart: use the form v"]),
    ({"version": "v26.x"}, ["version: 'v26.x' is not a version"]),
    ({"timeout_seconds": 0}, ["timeoutSeconds: must be at least 1"]),
    ({"pools": []}, ["pools: no pool has the GPU stack 'operator'"]),
    (
        {"values": {"driver": {"enabled": True}, "toolkit": {"enabled": True}}},
        ["values.driver.enabled: is true", "values.toolkit.enabled: is true"],
    ),
    ({"values": {"driver": {"enabled": "false"}}}, ["values.driver.enabled: is 'false'"]),
    ({"values": {"driver": None}}, ["values.driver: cannot be null: the chart has a map"]),
    ({"values": {"operator": {"runtimeClass": "nvidia"}}}, ["values.operator.runtimeClass: is"]),
    (
        {"driver": "operator", "values": {"toolkit": {"enabled": False}}},
        ["values.toolkit.enabled: is false, but gpuOperator.driver: operator requires true"],
    ),
    (
        {"values": {"gpuCluster": {"deployCR": True}, "clusterPolicy": {"deployCR": False}}},
        ["values.clusterPolicy.deployCR: is false", "values.gpuCluster.deployCR: is true"],
    ),
    ({"values": {"driver.enabled": True}}, ['values["driver.enabled"]: Helm reads no keys']),
    ({"values": {"daemonsets": {"tolerations": "x"}}}, ["values.daemonsets.tolerations: cannot"]),
    (
        {"pools": [OperatorPoolArgs(has_mig=True)], "values": {"migManager": {"enabled": True}}},
        ["values.migManager.enabled: is true, but AKS partitions"],
    ),
    ({"version": "1", "values": {"driver": {"enabled": 1}}}, ["version: ", "values.driver.ena"]),
]


@pytest.mark.parametrize(("args", "mistakes"), MISTAKES)
def test_all_mistakes_are_reported_at_once(
    deploy: Deploy, args: dict[str, Any], mistakes: list[str]
) -> None:
    given = {"pools": [TAINTED], **args}
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        deploy(lambda: NvidiaGpuOperator("operator", NvidiaGpuOperatorArgs(**given)))
    lines = str(refused.value).splitlines()
    assert len(lines) == len(mistakes)
    for line, mistake in zip(lines, mistakes, strict=True):
        assert line.startswith(f"operator: {mistake}")


# -- its pools


def pool(**more: Any) -> GpuNodePool:
    args = {"vm_size": "Standard_NC8as_T4_v3", "gpu_stack": "operator", **more}
    return GpuNodePool(
        "pool", GpuNodePoolArgs(resource_group_name="g", cluster_name="c", pool_name="p", **args)
    )


@pytest.mark.parametrize(("driver", "pools"), [("aks", "Install"), ("operator", "None")])
def test_aks_installs_the_driver_unless_the_operator_does(
    deploy: Deploy, driver: str, pools: str
) -> None:
    graph = deploy(lambda: pool(gpu_operator_driver=driver))
    assert graph.only("AgentPool").inputs["gpuProfile"] == {"driver": pools}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"gpu_operator_driver": "me"}, "gpuOperatorDriver: must be 'aks' or 'operator'"),
        ({"vm_size": "Standard_ND96isr_MI300X_v5"}, "has AMD GPUs"),
        (
            {
                "vm_size": "Standard_NC24ads_A100_v4",
                "mig_profile": "MIG1g",
                "gpu_operator_driver": "operator",
            },
            "AKS partitions GPUs only with a driver of its own",
        ),
        ({"vm_size": "Standard_NCC40ads_H100_v5"}, "AKS does not install a GPU driver"),
    ],
)
def test_pools_that_the_operator_cannot_serve_are_refused(
    deploy: Deploy, args: dict[str, Any], words: str
) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=words):
        deploy(lambda: pool(**args))
