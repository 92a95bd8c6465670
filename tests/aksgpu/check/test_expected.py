"""What a stack says, out of the states of real updates and of programs that are not ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from aks_catalogue.sample_pod import sample_pod
from aks_catalogue.scheduling import Taint
from aksgpu.check.expected import Expected, expected, in_clear

RECORDED = Path(__file__).with_name("states")
SIGNATURE = "4dabf18193072939515e22adb298388d"


def recorded(name: str) -> Expected:
    resources = json.loads((RECORDED / f"{name}.json").read_text())["deployment"]["resources"]
    [stack] = (resource for resource in resources if resource["type"] == "pulumi:pulumi:Stack")
    return expected(resources, stack["outputs"], "mend")


def pool(name: str, kind: str = "azure-native:containerservice:AgentPool", **more: Any) -> Any:
    outputs = {"name": name, "vmSize": "Standard_NC8as_T4_v3", "count": 1, **more}
    path = f"/subscriptions/s/managedClusters/one/agentPools/{name}"
    return {"type": kind, "id": path, "inputs": {}, "outputs": outputs}


@pytest.mark.parametrize(
    ("stack", "pools"),
    [
        ("dev", {"gpu": ("device-plugin", 1, 0, 1)}),
        (
            "prod",
            {
                "mig": ("device-plugin", 7, 1, 1),
                "spot": ("device-plugin", 1, 0, 4),
                "t4": ("device-plugin", 1, 3, 6),
            },
        ),
        (
            "article",
            {
                "gpu": ("specialized-image", 1, 1, 1),
                "gpugen2": ("specialized-image", 1, 1, 1),
                # The cluster's own first pool.
                "nodepool1": ("device-plugin", 1, 1, 1),
            },
        ),
    ],
)
def test_recorded_stacks_give_their_expected_pools(
    stack: str, pools: dict[str, tuple[str, int, int, int]]
) -> None:
    expected_stack = recorded(stack)
    assert pools == {
        name: (pool.gpu_stack, pool.gpus, pool.least, pool.most)
        for name, pool in (expected_stack.pools or {}).items()
    }
    assert "gpu-resources/nvidia-device-plugin-daemonset" in expected_stack.plugins


def test_pools_of_other_programs_and_clusters_are_not_expected() -> None:
    """A program need not name its pools in its outputs, and may have many clusters."""
    other = pool("other") | {"id": "/x/managedClusters/two/agentPools/other"}
    versioned = "azure-native:containerservice/v20250901:AgentPool"
    resources = [
        pool("a", versioned, nodeTaints=["sku=gpu:NoSchedule", "no taint"]),
        pool("cpu", vmSize="Standard_D4ds_v5"),
        pool("amd", vmSize="Standard_NV4as_v4"),
        pool("gone") | {"delete": True},
        other,
        {"type": "random:index:Pet"},
    ]
    outputs = {"clusterName": "one", "gpuPools": {"cpu": {}, "a": {}}}
    pools = expected(resources, outputs, "mend").pools or {}
    assert pools.keys() == {"a"}
    assert pools["a"].taints == (Taint("sku", "gpu", "NoSchedule"),)
    assert pools["a"].pod["spec"]["tolerations"] == [Taint("sku", "gpu", "NoSchedule").toleration]
    # Driver by AKS, and no plugin of this stack: who brings one is not known.
    assert pools["a"].gpu_stack == ""


@pytest.mark.parametrize(
    ("ignored", "read", "names"),
    [
        (["agentPoolProfiles"], {"powerState": {"code": "Running"}}, set()),
        (["agentPoolProfiles"], {}, {"drop"}),
        ([], {"powerState": {"code": "Running"}}, {"drop"}),
        # The program's own: an import, or a refresh after Ctrl-C, has read the whole of it.
        (["agentPoolProfiles"], {"powerState": {"code": "Running"}, "mode": "System"}, {"drop"}),
    ],
)
def test_a_deleted_pool_that_a_refresh_has_left_is_not_expected(
    ignored: list[str], read: dict[str, Any], names: set[str]
) -> None:
    """Who took a pool out of the stack file was told for ever that it has no nodes."""
    profiles = [{"name": "drop", "vmSize": "Standard_NC8as_T4_v3", "count": 1, **read}]
    cluster = {
        "type": "azure-native:containerservice:ManagedCluster",
        "id": "/subscriptions/s/managedClusters/one",
        "ignoreChanges": ignored,
        "inputs": {"agentPoolProfiles": profiles},
        "outputs": {"agentPoolProfiles": profiles},
    }
    assert set(expected([cluster], {"clusterName": "one"}, "mend").names) == names


@pytest.mark.parametrize(
    ("more", "gpu_stack"),
    [
        ({"gpuProfile": {"driver": "None"}}, "none"),
        ({"tags": {"EnableManagedGPUExperience": "true"}}, "managed"),
        ({"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}}}, "managed"),
        ({}, ""),
    ],
)
def test_the_gpu_stack_of_a_pool_follows_from_its_properties(
    more: dict[str, Any], gpu_stack: str
) -> None:
    pools = expected([pool("a", **more)], {}, "mend").pools or {}
    assert pools["a"].gpu_stack == gpu_stack


def test_a_pool_that_rotates_is_one_pool() -> None:
    """Its name in the outputs is not its name in Azure, and so it seemed to have no nodes."""
    rotated_pool = pool("gpuabc")
    outputs = {"gpuPools": {"gpu": {"id": rotated_pool["id"], "gpusPerNode": 4}}}
    pools = expected([rotated_pool], outputs, "mend").pools or {}
    assert {name: own.gpus for name, own in pools.items()} == {"gpuabc": 4}


def test_unencrypted_secrets_of_a_state_are_read() -> None:
    secret = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"text"'}
    assert in_clear({"a": [secret], "b": 1}) == {"a": ["text"], "b": 1}
    assert in_clear({SIGNATURE: "x", "ciphertext": "y"}) is None


def test_the_stacks_outputs_say_what_a_pool_offers() -> None:
    """A node that shares one GPU with four pods was told to differ from its stack."""
    pod = sample_pod("nvidia.com/gpu.shared", {}, [])
    outputs = {"shared": {"pod": pod, "gpusPerNode": 4.0}, "odd": [1]}
    stack = expected([pool("shared"), pool("plain")], {"gpuPools": outputs}, "mend")
    pools = stack.pools or {}
    assert {name: one.gpus for name, one in pools.items()} == {"shared": 4, "odd": None, "plain": 1}
    assert pools["shared"].pod == pod


@pytest.mark.parametrize(
    ("more", "gpu_stack"),
    [
        ({}, "operator"),
        ({"gpuProfile": {"driver": "None"}}, "operator"),
        ({"nodeLabels": {"nvidia.com/gpu.deploy.operands": "false"}}, ""),
    ],
)
def test_the_gpu_operator_serves_pools_without_a_gpu_stack_of_their_own(
    more: dict[str, Any], gpu_stack: str
) -> None:
    release = {"type": "kubernetes:helm.sh/v3:Release", "inputs": {"chart": "gpu-operator"}}
    pool_of_stack = expected([release, pool("gpu", **more)], {"clusterName": "one"}, "mend").pool(
        "gpu"
    )
    assert pool_of_stack is not None
    assert pool_of_stack.gpu_stack == gpu_stack
