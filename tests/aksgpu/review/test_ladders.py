"""A change of rungs: what it does to running jobs and to money, and the picture of a ladder."""

from fractions import Fraction
from typing import Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue import capacity
from aksgpu.review import wording
from aksgpu.review.costs import costs_by, prices_of
from aksgpu.review.diagram import as_ladder
from aksgpu.review.document import as_json
from aksgpu.review.ladders import ladders
from aksgpu.review.losses import lost_pools
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import Ladder, Rung, StackReview
from aksgpu.review.pools import count_gpus, pool_changes
from tests.aksgpu.review.price_list import price_list
from tests.aksgpu.review.reviews import A100, CLUSTER, T4, review, seen, step

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
    assert wording.ladder_money(ladder, "USD") == (
        "in USD an hour: a node of the first rung 0.75 (before: 3.50), all rungs at most 5.00"
    )


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
    end = "the jobs on its nodes end; pods with a controller start again on another rung"
    assert ladder.effects == [
        f"a (spot) is deleted: {end}",
        f"b (regular) is replaced: {end}",
        "c is new: no running job is touched",
    ]
    assert wording.ladder_title(ladder) == "Capacity training: b → c (before: a → b)"
    assert wording.ladder_money(ladder, "USD") == (
        "in USD an hour: a node of the first rung 3.50 (before: not known), "
        "all rungs at most 10.50 (before: 1.50 without a)"
    )


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
        "a goes to the ladder newer: running jobs stay, and pods of training no longer start there"
    ]
    assert new.effects == ["a joins: running jobs stay, and only pods of newer start there"]


def test_a_rung_that_changes_in_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved = rung("a", capacityReservationGroupID="/subscriptions/s", maxCount=4)
    ladder = only(monkeypatch, step("update", "a", A, reserved))
    assert ladder.effects == [
        f"a changes: {T4}, regular, at most 2 nodes becomes {T4}, reserved, at most 4 nodes"
    ]
    assert only(monkeypatch, step("same", "a", A, A)).effects == []


def test_an_order_that_is_not_known_yet_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of pools that rotate are known only during the update."""
    ladder = only(
        monkeypatch,
        step("same", "a", A, A),
        step("same", "c", C, C),
        order(priorities("c", "a"), priorities()),
    )
    assert names(ladder.after) == ["c", "a"]
    assert ladder.effects == []


RUNGS = [
    Rung("spot", T4, "spot", 2, None),
    Rung("x\n", T4, "regular", 1, Fraction("0.75")),
    Rung("y", A100, "reserved", None, None),
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
    picture = as_ladder(odd, [Rung(odd, odd, "spot", 1, Fraction(1))], currency=odd)
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
