"""The nodes of a pool, as they are handed to the API server."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool

POOL = DesiredPool(id="p", name="pool", vm_size="Standard_D4ds_v5", count=1, version="1.35.2")
# Kubernetes' rule.
VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
# Azure's rule for resource groups, as long as AKS takes one for nodes.
GROUPS = st.text(string.ascii_letters + string.digits + "_-.()", max_size=78).map(
    lambda name: f"M{name}_"
)


def label(group: str) -> str:
    cluster = DesiredCluster(
        uid="u", name="c", group="g", location="eastus", subscription="s", node_group=group
    )
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
