"""What the two ways sent is laid side by side, and no difference goes without a reason."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.article.arm_view import Request
from tests.article.comparison import ANYTHING, NOT_SENT, Comparison, Explanation, Item, compare
from tests.article.explanations import EXPLANATIONS

NOW = datetime(2026, 11, 22, tzinfo=UTC)
HAND, PROGRAM = "/subscriptions/1111", "/subscriptions/2222"
CLUSTER = "/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
POOL = f"{CLUSTER}/agentPools/gpu"


def put(path: str, body: Any = None, status: int = 201, **headers: str) -> Request:
    return Request(NOW, "PUT", path, {"api-version": "1"}, headers, body, status)


def compared(path: str, hand: Any, program: Any, *known: Explanation) -> Comparison:
    return compare([put(HAND + path, hand)], [put(PROGRAM + path, program)], known)


def differing(comparison: Comparison) -> list[tuple[str, Any, Any]]:
    return [
        (item.name, item.by_hand, item.by_program) for item in comparison.items if not item.is_same
    ]


def test_duplicate_requests_are_no_difference() -> None:
    body = {"properties": {"vmSize": "Standard_NC6", "count": 1}}
    comparison = compared(POOL, body, body)

    assert differing(comparison) == []
    assert comparison.is_explained


def test_a_difference_without_a_reason_is_an_error() -> None:
    hand, program = ({"properties": {"count": count}} for count in (1, 2))

    comparison = compared(POOL, hand, program)

    assert differing(comparison) == [("pool count", 1, 2)]
    assert not comparison.is_explained


def test_an_explained_difference_is_no_difference() -> None:
    known = Explanation("pool osSKU", NOT_SENT, "Ubuntu", "because")

    comparison = compared(POOL, {}, {"properties": {"osSKU": "Ubuntu"}}, known)

    (thing,) = comparison.things
    assert [item.reason for item in thing.items if item.reason] == ["because"]
    assert comparison.is_explained


def test_an_explanation_covers_only_the_values_that_it_names() -> None:
    known = Explanation("pool osSKU", NOT_SENT, "Ubuntu", "because")

    comparison = compared(POOL, {}, {"properties": {"osSKU": "AzureLinux"}}, known)

    assert not comparison.is_explained


def test_an_explanation_covers_one_kind_of_resource() -> None:
    known = Explanation("pool count", 1, 2, "because")

    comparison = compared("/resourceGroups/g", {"count": 1}, {"count": 2}, known)

    assert differing(comparison) == [("group count", 1, 2)]
    assert not comparison.is_explained


def test_an_inline_pool_is_named_as_any_pool_is() -> None:
    hand, program = (
        {"properties": {"agentPoolProfiles": [{"name": "one", **properties}]}}
        for properties in ({"count": 1}, {"count": 2})
    )

    assert differing(compared(CLUSTER, hand, program)) == [("pool count", 1, 2)]


def test_inline_pools_are_matched_by_name_not_by_place() -> None:
    one, two = {"name": "one", "count": 1}, {"name": "two", "count": 2}
    hand, program = (
        {"properties": {"agentPoolProfiles": pools}} for pools in ([one, two], [two, one])
    )

    assert differing(compared(CLUSTER, hand, program)) == []


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_empty_values_are_no_difference(empty: Any) -> None:
    assert differing(compared(POOL, {"properties": {"nodeTaints": empty}}, {})) == []


@pytest.mark.parametrize("value", [False, 0])
def test_false_and_zero_are_differences_from_a_missing_value(value: Any) -> None:
    comparison = compared(POOL, {"properties": {"count": value}}, {})

    assert differing(comparison) == [("pool count", value, NOT_SENT)]


def test_headers_are_the_same_in_any_case_and_their_values_are_not() -> None:
    hand = put(HAND + POOL, UseGPUDedicatedVHD="true", Accept="a")
    program = put(PROGRAM + POOL, usegpudedicatedvhd="true", Accept="b")

    assert differing(compare([hand], [program], ())) == [("header accept", "a", "b")]


def test_a_header_on_only_one_side_is_a_difference() -> None:
    comparison = compare([put(HAND + POOL, usegen2vm="true")], [put(PROGRAM + POOL)], EXPLANATIONS)

    assert ("header usegen2vm", "true", NOT_SENT) in differing(comparison)
    assert not comparison.is_explained


def test_paths_are_the_same_in_any_case() -> None:
    hand = put("/subscriptions/1/resourcegroups/G")
    program = put("/subscriptions/2/resourceGroups/g")

    assert len(compare([hand], [program], ()).things) == 1


def test_a_resource_on_only_one_side_is_an_error() -> None:
    both = put(HAND + POOL), put(PROGRAM + POOL)

    comparison = compare([both[0], put(HAND + CLUSTER)], [both[1]], ())
    assert comparison.only_by_hand == (CLUSTER,)
    assert not comparison.is_explained

    comparison = compare([both[0]], [both[1], put(PROGRAM + CLUSTER)], ())
    assert comparison.only_by_program == (CLUSTER,)
    assert not comparison.is_explained


def test_a_refused_request_creates_no_resource() -> None:
    refused = put(HAND + CLUSTER, status=400)

    comparison = compare([put(HAND + POOL), refused], [put(PROGRAM + POOL)], ())

    assert comparison.only_by_hand == ()


def test_the_request_that_created_a_resource_is_compared_not_a_later_one() -> None:
    first, later = (put(HAND + POOL, {"count": count}) for count in (1, 5))

    comparison = compare([first, later], [put(PROGRAM + POOL, {"count": 1})], ())

    assert differing(comparison) == []


def test_a_comparison_of_no_requests_is_not_explained() -> None:
    assert not compare([], [], EXPLANATIONS).is_explained


def test_no_explanation_covers_a_value_of_the_article() -> None:
    """Sizes, numbers, systems and the article's headers may never differ."""
    covered = (
        "pool vmSize",
        "pool count",
        "pool osType",
        "pool mode",
        "pool name",
        "group location",
    )
    sent = ("header usegpudedicatedvhd", "header usegen2vm")

    items = [Item(name, name, "a", "b") for name in (*covered, *sent)]

    assert not [item for item in items if any(each.holds_for(item) for each in EXPLANATIONS)]


def test_anything_matches_every_value() -> None:
    known = Explanation("header host", ANYTHING, ANYTHING, "two clouds")
    hand, program = put(HAND + POOL, Host="a:1"), put(PROGRAM + POOL, Host="b:2")

    assert compare([hand], [program], [known]).is_explained
