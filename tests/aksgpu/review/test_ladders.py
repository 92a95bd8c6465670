"""A change of rungs: what it does to running jobs and to money, and the picture of a ladder."""

from fractions import Fraction
from typing import Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue import capacity, rotation
from aksgpu.review import wording
from aksgpu.review.costs import costs_by, prices_of
from aksgpu.review.diagram import as_ladder
from aksgpu.review.document import as_json
from aksgpu.review.ladders import ladders
from aksgpu.review.losses import forgotten_pools, lost_pools
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import Ladder, Resource, Rung, StackReview
from aksgpu.review.pools import count_gpus, pool_changes
from tests.aksgpu.review.price_list import price_list
from tests.aksgpu.review.reviews import A100, CLUSTER, CPU, T4, review, seen, step

IN = {"resourceGroupName": "g", "resourceName": "c"}
HOME = {**IN, "location": "eastus"}
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
PRICES = {T4: 0.75, A100: 3.5}


def rung(name: str, ladder: str = "training", size: str = T4, **more: Any) -> dict[str, Any]:
    labels = {"nodeLabels": {capacity.LABEL: ladder}} if ladder else {}
    scaled = {"enableAutoScaling": True, "minCount": 0, "maxCount": 2}
    return {**IN, "agentPoolName": name, "vmSize": size, **scaled, **labels, **more}


def priorities(*pools: str) -> dict[str, Any]:
    text = capacity.priorities([pools]) if pools else UNKNOWN
    return {"metadata": {"name": capacity.CONFIG_MAP}, "data": {capacity.KEY: text}}


def order(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Any:
    return step("update", "priorities", before, after, kind=CONFIG_MAP)


def stack(monkeypatch: pytest.MonkeyPatch, *events: Any) -> StackReview:
    """The review of these steps, with prices."""
    steps = seen(step("same", "c", HOME, HOME, kind=CLUSTER), *events).steps.values()
    result = StackReview(stack="dev", file="Pulumi.dev.yaml", gpus=count_gpus(steps))
    result.pools = pool_changes(steps, lost_pools("dev", list(steps), ()))
    with price_list(PRICES) as address:
        monkeypatch.setenv("AKS_GPU_PRICE_LIST", address)
        prices = prices_of(steps)
    result.costs = costs_by(steps, prices)
    result.ladders = ladders(steps, result.pools, prices)
    return result


def only(monkeypatch: pytest.MonkeyPatch, *events: Any) -> Ladder:
    [ladder] = stack(monkeypatch, *events).ladders
    return ladder


def names(rungs: Any) -> list[str]:
    return [each.pool for each in rungs]


A, B, C = rung("a"), rung("b"), rung("c", size=A100, maxCount=1)


def test_the_order_alone_ends_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = only(
        monkeypatch,
        step("same", "a", A, A),
        step("same", "c", C, C),
        order(priorities("c", "a"), priorities("a", "c")),
    )
    assert (names(ladder.before), names(ladder.after)) == (["c", "a"], ["a", "c"])
    [effect] = ladder.effects
    assert "running jobs stay where they are" in effect
    assert [*wording.ladder_money(ladder, "USD")] == [
        "a node of the first rung costs 0.75 USD an hour (before: 3.50)",
        "all rungs together cost at most 5.00 USD an hour",
    ]


def test_a_rung_that_goes_ends_its_jobs_and_one_that_comes_ends_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = rung("a", scaleSetPriority="Spot")
    ladder = only(
        monkeypatch,
        step("delete", "a", gone, None),
        step("replace", "b", B, rung("b", size=A100), keys=["vmSize"]),
        step("create", "c", None, C),
        order(priorities("a", "b"), priorities("b", "c")),
    )
    end = "the jobs on its nodes end; pods with a controller start again on any rung"
    assert ladder.effects == [
        f"a (spot) is deleted: {end}",
        f"b (regular) is replaced: {end}",
        "c is new: no running job is touched",
    ]
    assert wording.ladder_title(ladder) == "Capacity training: b → c (before: a → b)"
    # The list has no price of a spot node.
    assert [*wording.ladder_money(ladder, "USD")] == [
        "a node of the first rung costs 3.50 USD an hour",
        "all rungs together cost at most 10.50 USD an hour",
    ]


def test_a_pool_that_moves_into_or_out_of_a_ladder_keeps_its_jobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ladder = only(
        monkeypatch,
        step("update", "a", A, rung("a", "")),
        step("update", "b", rung("b", ""), B),
        order(priorities("a"), priorities("b")),
    )
    assert ladder.effects == [
        "a leaves: running jobs stay, and pods of training no longer start there",
        "b joins: running jobs stay, and only pods of training start there",
    ]


def test_another_name_leaves_the_pods_of_the_old_one_without_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new, old = stack(
        monkeypatch, step("update", "a", A, rung("a", "newer")), order(priorities("a"), None)
    ).ladders
    assert (old.name, names(old.before), names(old.after)) == ("training", ["a"], [])
    assert old.effects == [
        "a goes to the ladder newer: running jobs stay, and pods of training no longer start there",
        "pods of training find no node any more",
    ]
    assert new.effects == ["a joins: running jobs stay, and only pods of newer start there"]
    assert [*wording.ladder_money(new, "USD")] == [
        "a node of the first rung costs 0.75 USD an hour",
        "all rungs together cost at most 1.50 USD an hour",
    ]


def test_a_capacity_that_is_deleted_starts_no_pod_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = only(monkeypatch, step("delete", "a", A, None), order(priorities("a"), None))
    assert ladder.effects == [
        "a (regular) is deleted: the jobs on its nodes end",
        "pods of training find no node any more",
    ]


def test_a_pool_without_gpus_is_no_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the label of a capacity it crashed the review."""
    cpu = rung("cpu", size=CPU)
    ladder = only(monkeypatch, step("same", "cpu", cpu, cpu), step("create", "a", None, A))
    assert names(ladder.after) == ["a"]


@pytest.mark.parametrize("hidden", [UNKNOWN, "[secret]"])
def test_what_is_not_known_makes_no_ladder(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """There was a ladder named by a UUID, and one that its rungs left."""
    in_all, in_one = rung("a", nodeLabels=hidden), rung("b", hidden)
    assert stack(monkeypatch, step("create", "a", None, in_one)).ladders == []
    assert stack(monkeypatch, step("same", "a", in_all, in_all)).ladders == []
    events = step("update", "a", A, in_all), step("update", "b", B, in_one)
    assert stack(monkeypatch, *events).ladders == []


def test_the_order_of_rungs_that_rotate_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new names are not known yet: such a rung came last, and another one's price first."""
    labels = {capacity.LABEL: "training", rotation.LABEL: "spot"}
    old = rung("spotx1", nodeLabels=labels)
    new = old | {"agentPoolName": UNKNOWN, "vmSize": A100}
    result = stack(
        monkeypatch,
        step("replace", "spot", old, new, keys=["vmSize"], delete=True),
        step("same", "a", A, A),
        order(priorities("spotx1", "a"), priorities()),
    )
    [ladder] = result.ladders
    end = "the jobs on its nodes end; pods with a controller start again on any rung"
    assert ladder.effects == [
        f"spotx1 (regular) is rotated: {end}",
        "the preview does not know the order of the rungs",
    ]
    assert wording.ladder_title(ladder) == "Capacity training: a, spot (before: a, spotx1)"
    assert [*wording.ladder_money(ladder, "USD")] == [
        "all rungs together cost at most 8.50 USD an hour (before: 3.00)"
    ]
    assert "sold out" not in as_markdown(review(result))


def test_each_cluster_has_its_own_ladders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool of one cluster was deleted, and the other one's jobs ended in the report."""
    elsewhere = {**A, "resourceName": "d"}
    here, there = stack(
        monkeypatch,
        step("same", "a-here", A, A),
        step("delete", "a-there", elsewhere, None),
    ).ladders
    assert (here.name, here.effects) == ("training on c", [])
    assert there.name == "training on d"
    assert there.effects[0] == "a (regular) is deleted: the jobs on its nodes end"


def test_a_pool_that_is_forgotten_ends_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [*seen(step("delete", "a", A, None)).steps.values()]
    [ladder] = ladders(steps, pool_changes(steps, forgotten_pools("dev", steps, ())), {})
    assert ladder.effects == ["a is forgotten: its nodes stay, and no stack manages them"]


def test_a_pool_that_azure_keeps_ends_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """The review said that the jobs on its nodes end, of a pool with `retainOnDelete`."""
    ladder = only(monkeypatch, step("delete", "a", A, None, retain_on_delete=True))
    assert ladder.effects == ["a is forgotten: its nodes stay, and no stack manages them"]


def test_a_rung_that_changes_in_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved = rung("a", capacityReservationGroupID="/subscriptions/s", maxCount=4)
    ladder = only(monkeypatch, step("update", "a", {**A, "maxCount": 1}, reserved))
    assert ladder.effects == [
        f"a changes: {T4}, regular, at most 1 node becomes {T4}, reserved, at most 4 nodes"
    ]
    assert only(monkeypatch, step("same", "a", A, A)).effects == []


def test_without_the_autoscalers_priorities_no_order_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another stack of the cluster may have them."""
    ladder = only(monkeypatch, step("same", "a", A, A), step("same", "c", C, C))
    assert wording.ladder_title(ladder) == "Capacity training: a, c"
    assert ladder.effects == ["the preview does not know the order of the rungs"]


RUNGS = [
    Rung(Resource("s"), "spot", T4, "spot", 2, None),
    Rung(Resource("x"), "x\n", T4, "regular", 1, Fraction("0.75")),
    Rung(Resource("y"), "y", A100, "reserved", None, None),
]


def test_the_picture_has_the_rungs_in_order() -> None:
    assert as_ladder("train", RUNGS, new={"spot"}, currency="USD").splitlines() == [
        "flowchart LR",
        'subgraph ladder["train"]',
        f'rung0["1. spot<br/>{T4}<br/>spot, at most 2 nodes"]',
        f'rung1["2. x<br/>{T4}<br/>regular, at most 1 node<br/>0.75 USD an hour a node"]',
        f'rung2["3. y<br/>{A100}<br/>reserved"]',
        "rung0 -- sold out --> rung1",
        "rung1 -- sold out --> rung2",
        "end",
        "class rung0 comes",
        "classDef comes stroke:#1a7f37,stroke-width:3px",
    ]


def test_no_name_breaks_out_of_the_picture() -> None:
    odd = 'a"]\nclick x "http://a"'
    picture = as_ladder(odd, [Rung(Resource("r"), odd, odd, "spot", 1, Fraction(1))], currency=odd)
    assert picture.count("\n") == 4
    assert all(line.count('"') in (0, 2) for line in picture.splitlines())


def test_the_report_shows_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    result = review(
        stack(
            monkeypatch,
            step("same", "a", A, A),
            step("create", "c", None, C),
            order(priorities("a"), priorities("a", "c")),
        )
    )
    text = as_markdown(result)
    assert "**Capacity training: a → c (before: a)**\n\n- c is new: no running job" in text
    assert 'rung1["2. c<br/>' in text
    assert "class rung1 comes" in text
    assert '"hourly": 3.5' in as_json(result)
    nothing = review(stack(monkeypatch, step("same", "g", rung("g", ""), rung("g", ""))))
    assert "Capacity" not in as_markdown(nothing)
