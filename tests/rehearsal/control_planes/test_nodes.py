"""The nodes of a pool, as they are handed to the API server."""

import re
import string
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import (
    DesiredCluster,
    DesiredPool,
    Era,
    NodeFault,
)

POOL = DesiredPool(id="p", name="pool", vm_size="Standard_D4ds_v5", count=1, version="1.35.2")
# Kubernetes' rule.
VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
# Azure's rule for resource groups, as long as AKS takes one for nodes.
GROUPS = st.text(string.ascii_letters + string.digits + "_-.()", max_size=78).map(
    lambda name: f"M{name}_"
)


CLUSTER = DesiredCluster(
    uid="u", name="c", group="g", location="eastus", subscription="s", node_group="MC_g_c_eastus"
)


def label(group: str) -> str:
    cluster = replace(CLUSTER, node_group=group)
    return nodes.labels(cluster, POOL, 0)["kubernetes.azure.com/cluster"]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("MC_g_c_eastus", "MC_g_c_eastus"),
        ("MC_(g)_c_eastus", "MC_-g-_c_eastus"),
        ("MC_g_c_", "MC_g_c_z"),
        ("a" * 80, "a" * 63),
        ("a" * 62 + "-b", "a" * 62 + "z"),
    ],
)
def test_the_label_of_the_nodes_group_is_cut_as_aks_does(group: str, expected: str) -> None:
    """No node of a cluster with long names came to be: its group has up to 80 letters."""
    assert label(group) == expected


@given(GROUPS)
def test_every_group_makes_a_label(group: str) -> None:
    assert VALUE.fullmatch(label(group))


@pytest.mark.parametrize(
    ("os_sku", "node_image", "labels", "os_image"),
    [
        ("Ubuntu", "AKSUbuntu-2404gen2containerd-202611.02.0", ("Ubuntu", "Ubuntu2404"), "24.04"),
        ("Ubuntu2204", "AKSUbuntu-2204containerd-202611.02.0", ("Ubuntu", "Ubuntu2204"), "22.04"),
        (
            "AzureLinux",
            "AKSAzureLinux-V3gen2-202611.02.0",
            ("AzureLinux", "AzureLinux3"),
            "Microsoft Azure Linux 3.0",
        ),
        # An availability set has no node image.
        ("Ubuntu", "", ("Ubuntu", "Ubuntu2404"), "24.04"),
    ],
)
def test_a_node_has_the_system_of_its_pool(
    os_sku: str, node_image: str, labels: tuple[str, str], os_image: str
) -> None:
    """Each Linux node was Ubuntu 24.04: a pod that asks for Azure Linux stayed pending here."""
    pool = replace(POOL, os_sku=os_sku, node_image=node_image)
    node = nodes.new_node(CLUSTER, pool, 0, Era.TODAY, 1)
    prefix, given = "kubernetes.azure.com/os-sku", node["metadata"]["labels"]
    assert (given[prefix], given[f"{prefix}-effective"]) == labels
    assert given[f"{prefix}-requested"] == os_sku
    assert os_image in node["status"]["nodeInfo"]["osImage"]


def test_a_scripted_condition_is_true_until_it_is_lifted() -> None:
    """And it is sent once: each patch of a node wakes what watches it."""
    others = {"type": "XIDErrors", "status": "True", "reason": "Found", "message": "Xid 79"}
    node: dict[str, Any] = {
        "metadata": {"name": "aks-gpu-1-vmss000000"},
        "status": {"conditions": [others, *nodes.conditions("then")]},
    }
    throttled = NodeFault(node="^aks-gpu-", condition="GPUClockThrottling", message="hot")
    elsewhere = NodeFault(node="^aks-other-", condition="GPUMissing")

    def step(*faults: NodeFault) -> list[tuple[str, str]]:
        patch = nodes.fault_patch(node, faults, "now")
        by_type = {each["type"]: each for each in node["status"]["conditions"]}
        changes = {each["type"]: each for each in (patch or {}).get("conditions", ())}
        node["status"]["conditions"] = [*{**by_type, **changes}.values()]
        return [(each["type"], each["status"]) for each in changes.values()]

    assert step(elsewhere) == []
    assert step(throttled, elsewhere) == [("GPUClockThrottling", "True")]
    assert step(throttled) == []
    assert step() == [("GPUClockThrottling", "False")]
    assert step() == []
    assert others in node["status"]["conditions"], "what somebody else reports stays"
