"""Which pools have all nodes reimaged, with their number and GPUs."""

from typing import Any

from pulumi.runtime.rpc import UNKNOWN

from aksgpu.review.reimages import reimages
from tests.aksgpu.review.reviews import CLUSTER, CPU, T4, seen, step

IN = {"resourceGroupName": "g", "resourceName": "c"}
H100 = "Standard_ND96isr_H100_v5"
SYSTEM = {"name": "system", "vmSize": CPU, "count": 3}
OF_CLUSTER = {**IN, "agentPoolProfiles": [SYSTEM]}
CILIUM = {"networkProfile": {"networkDataplane": "cilium"}}
LOCAL_DNS: dict[str, Any] = {"localDNSProfile": {"mode": "Required"}}
DRAINED = ". AKS drains each node first, and what is on its local disks is lost."


def pool(name: str, size: str = H100, count: Any = 2, **more: Any) -> dict[str, Any]:
    return {**IN, "agentPoolName": name, "vmSize": size, "count": count, **more}


def told(*events: Any) -> list[str]:
    return reimages([*seen(*events).steps.values()])


def same(name: str, properties: dict[str, Any]) -> Any:
    return step("same", name, properties, properties)


def test_a_change_of_a_cluster_reimages_all_its_pools() -> None:
    """Not those of another cluster, nor those that the change creates or deletes."""
    assert told(
        step("update", "aks", OF_CLUSTER, OF_CLUSTER | CILIUM, kind=CLUSTER),
        same("a", pool("a")),
        step("update", "b", pool("b", T4, 4), pool("b", T4, 8) | {"resourceGroupName": "G"}),
        same("elsewhere", pool("elsewhere") | {"resourceName": "d"}),
        step("create", "new", None, pool("new")),
        step("delete", "old", pool("old")),
    ) == [
        "This change reimages all nodes of 3 pools, 24 GPUs: a, b, system, because of "
        f"networkProfile.networkDataplane of the cluster aks{DRAINED}"
    ]


def test_a_change_of_a_pool_reimages_it_alone() -> None:
    assert told(
        step("same", "aks", OF_CLUSTER, OF_CLUSTER, kind=CLUSTER),
        step("update", "a", pool("a", T4, 1), pool("a", T4, 1, **LOCAL_DNS)),
        same("b", pool("b")),
    ) == [
        "This change reimages all nodes of 1 pool, 1 GPU: a, because of localDNSProfile of "
        f"a{DRAINED}"
    ]


def test_a_pool_is_counted_once() -> None:
    """By its own change and its cluster's; and a system pool is inline in its cluster."""
    inline = {**IN, "agentPoolProfiles": [SYSTEM | {"osSKU": "AzureLinux"}]}
    (sentence,) = told(
        step("update", "aks", OF_CLUSTER, inline | CILIUM, kind=CLUSTER),
        step("update", "a", pool("a", T4, UNKNOWN), pool("a", T4, UNKNOWN, **LOCAL_DNS)),
    )
    assert sentence == (
        "This change reimages all nodes of 2 pools, a number of GPUs not known yet: a, system, "
        "because of localDNSProfile of a; networkProfile.networkDataplane of the cluster aks; "
        f"osSKU of system{DRAINED}"
    )


def test_pools_that_come_are_not_counted_and_others_are_known_by_their_names() -> None:
    """A new inline pool was counted, and two that changed their places hid a change."""
    other = {"name": "other", "vmSize": T4, "count": 1, "osSKU": "Ubuntu"}
    moved = {**IN, "agentPoolProfiles": [other | {"osSKU": "AzureLinux"}, SYSTEM]}
    both = {**IN, "agentPoolProfiles": [SYSTEM, other]}
    (sentence,) = told(step("update", "aks", both, moved, kind=CLUSTER))
    assert "of 1 pool, 1 GPU: other, because of osSKU" in sentence
    (sentence,) = told(step("update", "aks", OF_CLUSTER, moved | CILIUM, kind=CLUSTER))
    assert "of 1 pool, 0 GPUs: system" in sentence


def test_pools_of_another_cluster_without_azure_natives_names_are_not_counted() -> None:
    """The classic provider's clusters have neither: all were taken for the same."""
    system = {"agentPoolProfiles": [SYSTEM]}
    (sentence,) = told(
        step("update", "a", system, system | CILIUM, kind=CLUSTER),
        step("same", "b", system, system, kind=CLUSTER),
    )
    assert "of 1 pool, 0 GPUs: system" in sentence


def test_a_value_that_is_not_known_yet_may_be_the_same() -> None:
    version = {"orchestratorVersion": "1.35"}
    unknown = {"orchestratorVersion": UNKNOWN}
    assert not told(step("update", "a", pool("a", **version), pool("a", **unknown)))


def test_other_changes_reimage_nothing() -> None:
    assert not told(
        step("update", "aks", OF_CLUSTER, OF_CLUSTER | {"tags": {"a": "b"}}, kind=CLUSTER),
        step("update", "a", pool("a"), pool("a", count=3)),
        # All nodes go: that is told otherwise.
        step("replace", "b", pool("b"), pool("b", **LOCAL_DNS)),
    )
