"""Which GPU pools go, why, and whether they may."""

from typing import Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from aksgpu.allowances import Allowance
from aksgpu.review.losses import lost_pools, other_losses
from aksgpu.review.model import LostPool
from tests.aksgpu.review.reviews import (
    A100,
    AGENT_POOL,
    CLASSIC_CLUSTER,
    CLUSTER,
    CPU,
    GROUP,
    T4,
    seen,
    step,
)

IN = {"resourceGroupName": "g", "resourceName": "c"}
POOL = {**IN, "agentPoolName": "gpu", "vmSize": T4, "count": 2}


def losses(*events: Any, allowed: tuple[Allowance, ...] = ()) -> list[LostPool]:
    return lost_pools("dev", list(seen(*events).steps.values()), allowed)


def reported(*events: Any) -> list[tuple[str, str, str]]:
    return [(loss.kind, loss.pool, loss.why) for loss in losses(*events)]


def test_a_replaced_pool_is_reported() -> None:
    (loss,) = losses(step("replace", "gpu", POOL, POOL | {"vmSize": A100}, keys=["vmSize"]))

    assert loss.message == (
        f"The GPU pool gpu ({T4}, 2 nodes) is replaced, because of vmSize. Azure deletes it, "
        "with its nodes and everything that runs on them, and may not have as many GPUs for new "
        "nodes."
    )
    assert loss.remedy == "Revert the change, or allow it with --allow replace:dev/gpu."


ROTATING = POOL | {"agentPoolName": "gpuabc", "nodeLabels": {"aks-gpu/pool": "gpu"}}


@pytest.mark.parametrize("name", ["gpuxyz", UNKNOWN])
def test_a_pool_that_rotates_needs_no_allowance(name: str) -> None:
    """It was told as deleted; and not at all, as the engine marks it when the other comes first."""
    new = ROTATING | {"agentPoolName": name, "vmSize": A100}
    (loss,) = losses(step("replace", "gpu", ROTATING, new, keys=["vmSize"], delete=True))

    assert (loss.kind, loss.allowed) == ("rotate", True)
    assert loss.message == (
        f"The GPU pool gpuabc ({T4}, 2 nodes) is rotated, because of vmSize; meanwhile the "
        f"stack has {A100}, 2 nodes with 2 GPUs, more. Azure creates the new pool first, and then "
        "drains and deletes this one. Until it is gone, quota and budget have to hold both."
    )


def test_one_gpu_is_not_told_as_several() -> None:
    """It said "1 node with 1 GPUs"."""
    new = ROTATING | {"agentPoolName": "gpuxyz", "count": 1}
    (loss,) = losses(step("replace", "gpu", ROTATING, new, keys=["vmSize"]))
    assert "1 node with 1 GPU, more" in loss.message


@pytest.mark.parametrize(
    "events",
    [
        # Under its own name the old one goes first.
        [step("replace", "gpu", ROTATING, ROTATING | {"vmSize": A100}, keys=["vmSize"])],
        [step("delete", "gpu", ROTATING)],
        [
            step("replace", "cluster", IN, IN, kind=CLUSTER),
            step("replace", "gpu", ROTATING, ROTATING | {"agentPoolName": "gpuxyz"}),
        ],
    ],
)
def test_a_deleted_pool_with_rotation_labels_is_a_loss(events: list[Any]) -> None:
    assert [loss.allowed for loss in losses(*events)] == [False]


def test_a_deleted_pool_is_reported() -> None:
    (loss,) = losses(step("delete", "gpu", POOL))
    assert (loss.kind, loss.allowed) == ("delete", False)
    assert loss.message.startswith(f"The GPU pool gpu ({T4}, 2 nodes) is deleted. Azure deletes it")


@pytest.mark.parametrize(
    "event",
    [
        step("update", "gpu", POOL, POOL | {"count": 3}),
        step("same", "gpu", POOL, POOL),
        step("create", "gpu", None, POOL),
        step("replace", "cpu", POOL | {"vmSize": CPU}, POOL),
        step("delete", "cpu", POOL | {"vmSize": CPU}),
        # It is only forgotten.
        step("delete", "gpu", POOL, retain_on_delete=True),
        # An earlier update has put another in its place.
        step("delete", "gpu", POOL, delete=True),
    ],
)
def test_a_change_that_keeps_the_pool_is_no_loss(event: Any) -> None:
    assert losses(event) == []


@pytest.mark.parametrize(
    ("allowance", "allowed"),
    [
        ("delete:dev/gpu", True),
        ("delete:dev/r", True),
        ("delete:dev/other", False),
        # Once a name let everything happen, in every stack.
        ("delete:prod/gpu", False),
        ("replace:dev/gpu", False),
    ],
)
def test_an_allowance_names_its_stack_and_pool(allowance: str, *, allowed: bool) -> None:
    (loss,) = losses(step("delete", "r", POOL), allowed=(Allowance.read(allowance),))
    assert loss.allowed is allowed


PROFILES = [{"name": "sys", "vmSize": CPU}, {"name": "in", "vmSize": T4}]
INLINE = {**IN, "agentPoolProfiles": PROFILES}
FORGOTTEN = ", since the cluster cluster no longer names it"
NO_SUCH_MACHINES = ", since it has no nodes of this size any more"


def inline(*profiles: Any) -> dict[str, Any]:
    return {**IN, "agentPoolProfiles": [PROFILES[0], *profiles]}


def of_machines(*sizes: str) -> dict[str, Any]:
    manual = [{"size": size, "count": 1} for size in sizes]
    return {"name": "in", "virtualMachinesProfile": {"scale": {"manual": manual}}}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            step("delete", "cluster", INLINE, kind=CLUSTER),
            [("delete", "in", " with cluster")],
        ),
        (
            step("replace", "cluster", INLINE, INLINE, kind=CLUSTER, keys=["location"]),
            [("replace", "in", " with cluster, because of location")],
        ),
        (
            step(
                "update", "cluster", INLINE, {**IN, "agentPoolProfiles": PROFILES[:1]}, kind=CLUSTER
            ),
            [("forget", "in", FORGOTTEN)],
        ),
        (
            step(
                "update",
                "cluster",
                INLINE,
                {**IN, "agentPoolProfiles": [PROFILES[0], {"name": "in", "vmSize": A100}]},
                kind=CLUSTER,
            ),
            [("resize", "in", NO_SUCH_MACHINES)],
        ),
        # It is still named, though it has no GPUs any more.
        (
            step("update", "cluster", INLINE, inline({"name": "in", "vmSize": CPU}), kind=CLUSTER),
            [("resize", "in", NO_SUCH_MACHINES)],
        ),
        (
            step("update", "cluster", INLINE, {**IN, "agentPoolProfiles": UNKNOWN}, kind=CLUSTER),
            [
                (
                    "forget",
                    "in",
                    f"{FORGOTTEN}, as far as is known before the update",
                )
            ],
        ),
        (
            step(
                "update", "cluster", INLINE, inline({"name": "in", "vmSize": UNKNOWN}), kind=CLUSTER
            ),
            [("resize", "in", f"{NO_SUCH_MACHINES}, as far as is known before the update")],
        ),
        (step("update", "cluster", INLINE, INLINE, kind=CLUSTER), []),
    ],
)
def test_lost_inline_pools_are_reported(event: Any, expected: list[tuple[str, str, str]]) -> None:
    assert reported(event) == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([of_machines(T4, A100)], []),
        ([of_machines(A100, CPU, T4)], []),
        ([of_machines(A100)], [("resize", "in", NO_SUCH_MACHINES)]),
        ([], [("forget", "in", FORGOTTEN)] * 2),
    ],
)
def test_lost_inline_pools_of_virtual_machines_are_reported(
    after: list[Any], expected: list[tuple[str, str, str]]
) -> None:
    before = inline(of_machines(T4, A100))
    assert reported(step("update", "cluster", before, inline(*after), kind=CLUSTER)) == expected


def test_every_size_of_a_virtual_machines_pool_is_read() -> None:
    scale = {"manual": [{"sizes": [CPU, T4], "count": 2}]}
    pool = {**IN, "agentPoolName": "gpu", "virtualMachinesProfile": {"scale": scale}}
    (loss,) = losses(step("delete", "gpu", pool))
    assert loss.vm_size == f"{T4}, 2 nodes"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"name": "own", "vmSize": T4}, []),
        ({"name": "own", "vmSize": A100}, [("resize", "own", NO_SUCH_MACHINES)]),
        (
            {"name": "other", "vmSize": T4},
            [("replace", "own", ", since the cluster cluster names another pool instead")],
        ),
    ],
)
def test_the_lost_default_pool_of_a_classic_cluster_is_reported(
    after: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    before = {"defaultNodePool": {"name": "own", "vmSize": T4}}
    new = {"defaultNodePool": after}
    assert reported(step("update", "cluster", before, new, kind=CLASSIC_CLUSTER)) == expected


def test_a_pool_whose_name_is_not_known_yet_stays_the_same_pool() -> None:
    assert losses(step("update", "r", POOL, POOL | {"agentPoolName": UNKNOWN})) == []


def test_a_pool_that_leaves_the_list_of_its_cluster_is_not_reported_as_deleted() -> None:
    (loss,) = losses(step("update", "cluster", INLINE, inline(), kind=CLUSTER))
    assert loss.message == (
        f"The GPU pool in ({T4}, 1 node) is forgotten{FORGOTTEN}. Azure keeps it: its nodes "
        "stay and cost money, but no stack manages them any more."
    )


def test_a_resized_pool_is_reported_with_both_sizes() -> None:
    after = inline({"name": "in", "vmSize": A100})
    (loss,) = losses(step("update", "cluster", INLINE, after, kind=CLUSTER))
    assert loss.message == (
        f"The GPU pool in ({T4}, 1 node) is resized{NO_SUCH_MACHINES}. Azure refuses that, "
        "or deletes these nodes with everything that runs on them, and may not have as many GPUs "
        "for new nodes."
    )


SECRET = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "ciphertext": "[secret]",
}


@pytest.mark.parametrize(
    ("inputs", "kind"),
    [
        (POOL | {"vmSize": SECRET}, AGENT_POOL),
        (POOL | {"agentPoolName": SECRET, "count": SECRET}, AGENT_POOL),
        ({**IN, "virtualMachinesProfile": SECRET}, AGENT_POOL),
        (
            {**IN, "virtualMachinesProfile": {"scale": {"manual": [SECRET]}}, "vmSize": T4},
            AGENT_POOL,
        ),
        ({**IN, "agentPoolProfiles": SECRET}, CLUSTER),
        ({**IN, "agentPoolProfiles": [SECRET]}, CLUSTER),
        ({"defaultNodePool": SECRET}, CLASSIC_CLUSTER),
    ],
)
def test_a_pool_with_secret_properties_is_reported_as_lost(
    inputs: dict[str, Any], kind: str
) -> None:
    """It was not seen: the engine tells a secret as a map of its own."""
    told = losses(step("delete", "r", inputs, kind=kind))
    assert {loss.kind for loss in told} == {"delete"}
    assert not any("4dabf" in loss.message for loss in told)


def test_a_deleted_resource_group_is_matched_in_any_case() -> None:
    group = step("delete", "group", {"resourceGroupName": "G"}, kind=GROUP)
    assert [kind for kind, _, _ in reported(group, step("same", "gpu", POOL, POOL))] == ["delete"]


def test_pools_are_lost_with_their_cluster() -> None:
    cluster = step("replace", "cluster", IN, IN, kind=CLUSTER)
    other = POOL | {"resourceName": "another", "agentPoolName": "other"}

    assert reported(
        cluster, step("same", "gpu", POOL, POOL), step("same", "other", other, other)
    ) == [("replace", "gpu", ", since its cluster cluster is replaced")]


def test_pools_are_lost_with_their_resource_group() -> None:
    group = step("delete", "group", {"resourceGroupName": "g"}, kind=GROUP)
    assert reported(group, step("update", "gpu", POOL, POOL)) == [
        ("delete", "gpu", ", since its resource group group is deleted")
    ]


def test_a_pool_that_is_replaced_with_its_cluster_is_reported_once() -> None:
    cluster = step("replace", "cluster", IN, IN, kind=CLUSTER)
    pool = step("replace", "gpu", POOL, POOL, keys=["resourceName"])
    assert reported(cluster, pool) == [("replace", "gpu", ", because of resourceName")]


def test_a_pool_without_gpus_that_goes_is_told() -> None:
    """A deleted pool of `pools` stood in the list of all resources alone, and the rest was fine."""
    web = {**IN, "agentPoolName": "web", "vmSize": CPU, "count": 2}
    steps = seen(
        step("delete", "web", web),
        step("replace", "batch", web | {"agentPoolName": "batch"}, web, keys=["vmSize"]),
        step("delete", "gpu", POOL),
        step("same", "stays", web, web),
    ).steps.values()
    assert other_losses(list(steps)) == [
        f"The node pool batch ({CPU}, 2 nodes) is replaced, because of vmSize: Azure deletes its "
        "nodes with everything that runs on them. It has no GPUs, so it needs no --allow.",
        f"The node pool web ({CPU}, 2 nodes) is deleted: Azure deletes its "
        "nodes with everything that runs on them. It has no GPUs, so it needs no --allow.",
    ]
