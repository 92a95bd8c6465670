"""What the played GPU Operator makes, and what keeps its operands from starting."""

from typing import Any

import pytest

from rehearsal.control_planes import gpu_operator
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]
PATH = "/apis/apps/v1/namespaces/ns/daemonsets/"
TOLERATIONS = [{"key": "sku", "operator": "Exists"}]


def policy(**spec: Any) -> Json:
    about = {"name": "cluster-policy", "uid": "1"}
    parts = {
        "operator": {"runtimeClass": "nvidia"},
        "daemonsets": {"tolerations": TOLERATIONS},
        **spec,
    }
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": about,
        "spec": parts,
    }


def pool(*, has_driver: bool, vm_size: str = "Standard_NC8as_T4_v3") -> DesiredPool:
    return DesiredPool(
        id="i", name="p", vm_size=vm_size, count=1, version="1.35.0", has_driver=has_driver
    )


def pod(app: str = "", phase: str = "Running", command: str = "x", **spec: Any) -> Json:
    container = {"name": "c", "image": "i", "command": [command], "env": []}
    return {
        "metadata": {"labels": {"app": app}, "namespace": "ns"},
        "status": {"phase": phase},
        "spec": {"containers": [container], **spec},
    }


DRIVER = pod("nvidia-driver-daemonset")
TOOLKIT = pod("nvidia-container-toolkit-daemonset")
TOOLKIT["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_RUNTIME_NAME", "value": "nvidia"}]
PLUGIN = pod("x", "Pending", initContainers=[{"name": "toolkit-validation"}])


@pytest.mark.parametrize(
    ("switches", "missing"),
    [
        ({}, set()),
        (
            {"driver": {"enabled": False}, "toolkit": {"enabled": False}},
            {"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"},
        ),
        ({"devicePlugin": {"enabled": False}}, {"nvidia-device-plugin-daemonset"}),
    ],
)
def test_each_operand_has_a_switch_and_the_tolerations(switches: Json, missing: set[str]) -> None:
    every = {name for _, name, _, _, _ in gpu_operator._OPERANDS}
    made = dict(gpu_operator.objects(policy(**switches), "ns"))
    sets = {path.removeprefix(PATH): body for path, body in made.items() if PATH in path}
    assert sets.keys() == every - missing
    for body in sets.values():
        assert body["spec"]["template"]["spec"]["tolerations"] == TOLERATIONS


def test_an_operand_changes_its_hash_with_its_policy() -> None:
    def mark(**spec: Any) -> str:
        cluster_policy = policy(**spec)
        path = f"{PATH}nvidia-device-plugin-daemonset"
        body = dict(gpu_operator.objects(cluster_policy, "ns"))[path]
        made = gpu_operator.marked(body, cluster_policy, path)
        assert made["metadata"]["name"] == "nvidia-device-plugin-daemonset"
        mark: str = made["metadata"]["annotations"][gpu_operator.MADE_FROM]
        return mark

    assert mark() == mark()
    assert mark() != mark(mig={"strategy": "mixed"})


WORKER = pod(command="nfd-worker")
PCI = "feature.node.kubernetes.io/pci-10de.present"
DEPLOY = "nvidia.com/gpu.deploy."


def labels(*, has_driver: bool, pods: list[Json], operates: bool = True, **own: str) -> Json:
    node = {"metadata": {"labels": {key.replace("__", "/"): value for key, value in own.items()}}}
    return gpu_operator.label_patch(node, pool(has_driver=has_driver), pods, operates=operates)


def test_nodes_get_their_labels_where_node_feature_discovery_runs() -> None:
    """Without its pod, which needs tolerations of its own, no operand lands on a node."""
    assert labels(has_driver=True, pods=[]) == {}
    assert labels(has_driver=True, pods=[WORKER], operates=False) == {PCI: "true"}
    patch = labels(has_driver=True, pods=[WORKER])
    assert patch[f"{DEPLOY}device-plugin"] == "true"
    assert patch[f"{DEPLOY}driver"] == "pre-installed"
    assert labels(has_driver=False, pods=[WORKER])[f"{DEPLOY}driver"] == "true"


def test_the_operator_does_not_label_pools_of_other_owners() -> None:
    node = {"metadata": {"labels": {f"{DEPLOY}operands": "false"}}}
    patch = gpu_operator.label_patch(node, pool(has_driver=True), [WORKER], operates=True)
    assert patch == {PCI: "true", "nvidia.com/gpu.present": "true"}


@pytest.mark.parametrize(
    ("by_aks", "pods", "runtime", "starts"),
    [
        # The two coherent profiles.
        (True, [], "nvidia-container-runtime", True),
        (False, [DRIVER, TOOLKIT], "nvidia", True),
        # AKS's runtime has another name than the chart's default.
        (True, [], "nvidia", False),
        # The broken hybrids, and a pool whose driver nobody installs.
        (True, [TOOLKIT], "nvidia", False),
        (False, [DRIVER], "nvidia", False),
        (False, [DRIVER], "nvidia-container-runtime", False),
        (False, [], "nvidia-container-runtime", False),
        (False, [TOOLKIT], "nvidia", False),
        # What asks for no runtime of NVIDIA's needs none.
        (True, [], "kata", True),
        (True, [], None, True),
    ],
)
def test_operands_start_where_driver_and_toolkit_have_one_owner(
    by_aks: bool, pods: list[Json], runtime: str | None, starts: bool
) -> None:
    operand = {**PLUGIN, "spec": {**PLUGIN["spec"], "runtimeClassName": runtime}}
    why = gpu_operator.obstacle(operand, pool(has_driver=by_aks), pods)
    assert (why is None) is starts
    if why and not starts:
        assert f'no runtime for "{runtime}" is configured' in why
