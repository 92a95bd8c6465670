"""What a node reports of the GPUs that plugins offer."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue.device_plugin import CONFLICT_CONDITION
from aks_catalogue.mig import Slices
from rehearsal.control_planes import gpus
from rehearsal.control_planes.desired_state import DesiredPool
from rehearsal.control_planes.gpus import Hardware

Json = dict[str, Any]

A100, T4, CPU = "Standard_NC48ads_A100_v4", "Standard_NC8as_T4_v3", "Standard_D4ds_v5"
NOW = "2026-11-01T00:00:00Z"
GPU, MIG, SHARED = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"


def pool(vm_size: str = T4, **more: Any) -> DesiredPool:
    given: Json = {"id": "p", "name": "p", "count": 1, "version": "1", "has_driver": True}
    return DesiredPool(vm_size=vm_size, **{**given, **more})


def node(capacity: Mapping[str, str] = {}, *, is_ready: bool = True) -> Json:
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    resources = {"cpu": "4", **capacity}
    return {
        "metadata": {"name": "n"},
        "status": {
            "capacity": dict(resources),
            "allocatable": dict(resources),
            "conditions": conditions,
        },
    }


def patched(node: Json, patch: Json | None) -> Json:
    """The node as the patch leaves it."""
    status = {key: dict(node["status"][key]) for key in ("capacity", "allocatable")}
    conditions = {each["type"]: each for each in node["status"]["conditions"]}
    for key in status:
        status[key] |= (patch or {}).get(key, {})
    conditions |= {each["type"]: each for each in (patch or {}).get("conditions", ())}
    return {**node, "status": {**status, "conditions": list(conditions.values())}}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"vm_size": T4}, Hardware(gpus=1)),
        ({"vm_size": T4, "has_driver": False}, Hardware()),
        ({"vm_size": CPU}, Hardware()),
        ({"vm_size": "Standard_NV4as_v4"}, Hardware()),
        # Of a share of a GPU the guest sees one.
        ({"vm_size": "Standard_NV6ads_A10_v5"}, Hardware(gpus=1)),
        ({"vm_size": T4, "mig_profile": "MIG1g"}, Hardware(gpus=1)),
        ({"vm_size": A100, "mig_profile": "MIG2g"}, Hardware(2, Slices("2g.20gb", 3))),
        ({"vm_size": A100, "mig_profile": "MIG1g"}, Hardware(2, Slices("1g.10gb", 7))),
    ],
)
def test_the_hardware_of_a_node_follows_from_its_pool(settings: Json, expected: Hardware) -> None:
    assert gpus.hardware(pool(**settings)) == expected


@pytest.mark.parametrize(
    ("settings", "offers"),
    [
        ({"vm_size": A100}, {GPU: 2}),
        # By AKS's default of migStrategy, which is None.
        ({"vm_size": A100, "mig_profile": "MIG1g"}, {GPU: 2}),
        ({"vm_size": CPU}, {}),
        ({"vm_size": A100, "brings_plugin": False}, {}),
    ],
)
def test_a_node_with_its_own_plugin_offers_gpus(settings: Json, offers: dict[str, int]) -> None:
    given: Json = {"brings_plugin": True} | settings
    assert gpus.own_offers(pool(**given)) == offers


def test_a_node_without_offers_has_no_gpu_resource() -> None:
    assert gpus.node_offers(pool(), node(), []) is None
    assert gpus.node_offers(pool(), node(), [{}]) is None
    assert gpus.node_offers(pool(), node(is_ready=False), [{GPU: 1}]) is None


def test_resources_that_are_no_longer_offered_stay_at_zero() -> None:
    offered = gpus.node_offers(pool(A100), node(), [{MIG: 14}])
    patch = gpus.status_patch(node({GPU: "2", "example.com/other": "3"}), offered, NOW)
    assert patch == {"capacity": {GPU: "0", MIG: "14"}, "allocatable": {GPU: "0", MIG: "14"}}
    assert gpus.status_patch(node({GPU: "2"}), None, NOW) == {
        "capacity": {GPU: "0"},
        "allocatable": {GPU: "0"},
    }
    assert gpus.status_patch(node(), None, NOW) is None


def test_two_plugins_conflict_only_over_the_same_resource() -> None:
    """Two plugins were a conflict whatever they offered."""
    offered = gpus.node_offers(pool(), node(), [{GPU: 1}, {SHARED: 4}])
    assert offered is not None
    assert (offered.offered, offered.conflict) == ({GPU: 1, SHARED: 4}, "")
    offered = gpus.node_offers(pool(), node(), [{GPU: 1}, {GPU: 4}, {SHARED: 4}])
    assert offered is not None
    assert offered.conflict.startswith("2 device plugins on this node offer nvidia.com/gpu.")
    after = patched(node(), gpus.status_patch(node(), offered, NOW))["status"]
    assert (after["capacity"][GPU], after["allocatable"][GPU]) == ("4", "0")
    assert (after["capacity"][SHARED], after["allocatable"][SHARED]) == ("4", "4")
    # The one that the node brings counts too.
    offered = gpus.node_offers(pool(brings_plugin=True), node(), [{GPU: 1}])
    assert offered is not None
    assert offered.conflict


OFFERS = st.lists(
    st.dictionaries(st.sampled_from([GPU, MIG, SHARED]), st.integers(1, 99)), max_size=3
)


@given(rounds=st.lists(OFFERS, max_size=6))
def test_a_node_always_reports_what_is_offered_now(rounds: list[list[dict[str, int]]]) -> None:
    here = node()
    for offers in rounds:
        offered = gpus.node_offers(pool(), here, offers)
        here = patched(here, gpus.status_patch(here, offered, NOW))
        # Nothing is left to do.
        assert gpus.status_patch(here, offered, NOW) is None
        status = here["status"]
        for name in (GPU, MIG, SHARED):
            counts = [offer[name] for offer in offers if name in offer]
            assert int(status["capacity"].get(name, 0)) == max(counts, default=0)
            alone = counts[0] if len(counts) == 1 else 0
            assert int(status["allocatable"].get(name, 0)) == alone
        conditions = {one["type"]: one["status"] for one in status["conditions"]}
        contested = any(sum(name in offer for offer in offers) > 1 for name in (GPU, MIG, SHARED))
        assert (conditions.get(CONFLICT_CONDITION) == "True") is contested
