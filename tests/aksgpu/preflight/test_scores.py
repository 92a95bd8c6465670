"""Placement scores: asked once for all spot pools, and never the reason of a failure."""

import json
from typing import Any

import pytest
from azure.core.rest import HttpRequest

from aksgpu.preflight import requirements, scores
from aksgpu.preflight.facts import Unanswered
from tests.aksgpu.preflight.conftest import T4, Place, facts_with, offered, stack_of, the

SPOT = T4 | {"name": "spot", "spot": True}
GENERATE = "/placementScores/spot/generate"


def sent(place: Place, *pools: dict[str, Any]) -> list[dict[str, Any]]:
    lines = place.asked(lambda: place.ask(gpuPools=pools))
    return [line for line in lines if line["path"].endswith(GENERATE)]


def test_spot_pools_get_a_score(place: Place) -> None:
    place.offer(sizes=[{"size": "Standard_NC24ads_A100_v4", "is": "soldOut"}])
    a100 = SPOT | {"name": "a100", "vmSize": "Standard_NC24ads_A100_v4"}
    result = place.ask(gpuPools=[T4, SPOT, a100])
    assert result.exit_code == 0
    row = the(result, "score", "spot")
    assert (row.answer, row.figures["score"]) == ("ok", "High")
    row = the(result, "score", "a100")
    assert (row.answer, row.figures["score"]) == ("warning", "Low")
    assert row.what.startswith("the placement score of Standard_NC24ads_A100_v4 as spot is Low")
    assert (row.key, row.cause) == ("gpuPools[2].spot", None)
    assert not [row for row in result.rows if (row.question, row.pool) == ("score", "t4")]


def test_all_spot_pools_share_one_request(place: Place) -> None:
    """Azure answers a few an hour."""
    assert sent(place, T4) == []
    many = [SPOT | {"name": f"spot{number}", "count": number} for number in range(1, 9)]
    assert len(sent(place, T4, *many)) == 1
    zonal = SPOT | {"name": "zonal", "zones": ["1", "2"]}
    assert len(sent(place, zonal, *many)) == 2


def test_a_size_that_azure_does_not_know_takes_no_score_away(place: Place) -> None:
    """Azure refuses a request with such a size as a whole."""
    odd = SPOT | {"name": "odd", "vmSize": "Standard_NC8as_T4_v9"}
    result = place.ask(gpuPools=[SPOT, odd])
    assert the(result, "score", "spot").answer == "ok"
    assert the(result, "size", "odd").answer != "ok"
    assert not [row for row in result.rows if (row.question, row.pool) == ("score", "odd")]
    assert sent(place, odd) == []


def test_a_request_asks_for_the_most_nodes_of_a_place(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = list[Any]()

    def seen(*about: Any, **more: Any) -> Any:
        bodies.append(more["json"])
        return HttpRequest(*about, **more)

    monkeypatch.setattr(scores, "HttpRequest", seen)
    place.ask(gpuPools=[SPOT | {"zones": ["1", "2"], "minCount": 0, "maxCount": 5}])
    place.ask(gpuPools=[SPOT | {"minCount": 0, "maxCount": 5}, SPOT | {"name": "few"}])
    sizes = [{"sku": T4["vmSize"]}]
    assert bodies == [
        {
            "desiredLocations": ["eastus"],
            "desiredSizes": sizes,
            "desiredCount": count,
            "availabilityZones": in_zones,
        }
        for count, in_zones in ((3, True), (5, False))
    ]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (403, {"error": {"code": "AuthorizationFailed", "message": "no action"}}, "no action"),
        (404, {"error": {"code": "NotFound", "message": "not here"}}, "not here"),
        (429, {"error": {"code": "TooManyRequests", "message": "too often"}}, "too often"),
        (200, {"placementScores": [None]}, "the response is not valid"),
        (200, {"value": []}, "the response is not valid"),
        (200, {"placementScores": [{"sku": T4["vmSize"]}]}, "the response is not valid"),
    ],
)
def test_a_score_that_azure_does_not_give_is_no_failure(
    place: Place, status: int, body: dict[str, Any], words: str
) -> None:
    fault = {"method": "POST", "path": GENERATE, "status": status, "body": body, "times": 9}
    place.fault(fault | ({"headers": {"Retry-After": "3600"}} if status == 429 else {}))
    result = place.ask(gpuPools=[SPOT, SPOT | {"name": "other"}])
    row = the(result, "score")
    assert (row.answer, row.cause) == ("unknown", None)
    assert words in row.what
    assert ("Compute Recommendations Role" in row.advice) == (status == 403)
    assert result.exit_code == 0
    json.dumps(result.to_json())


@pytest.mark.parametrize(
    ("by_zone", "answer", "said"),
    [
        ({"1": "High", "2": "High"}, "ok", "High"),
        ({"1": "Low", "2": "Medium"}, "ok", "Low in zone 1, Medium in zone 2"),
        ({"1": "Low", "2": "Low", "3": "High"}, "warning", "Low"),
        ({"1": "RestrictedSkuNotAvailable", "2": "Low"}, "warning", ""),
        ({"1": "DataNotFoundOrStale", "2": "DataNotFoundOrStale"}, "unknown", ""),
        ({"1": "Excellent"}, "unknown", ""),
        ({}, "unknown", ""),
    ],
)
def test_the_best_zone_of_a_pool_counts(by_zone: dict[str, str], answer: str, said: str) -> None:
    pools = requirements.pools(stack_of(gpuPools=[SPOT | {"zones": ["1", "2"]}]))
    size = T4["vmSize"].lower()
    known = {(size, zone): word for zone, word in by_zone.items()}
    (row,) = scores.judge(pools, facts_with(offered(T4["vmSize"]), scores=known))
    assert row.answer == answer
    if said:
        assert row.figures["score"] == said


def test_no_answer_is_unknown() -> None:
    pools = requirements.pools(stack_of(gpuPools=[SPOT]))
    unanswered = facts_with(offered(T4["vmSize"]), scores=Unanswered("no response in time"))
    (row,) = scores.judge(pools, unanswered)
    assert (row.answer, row.cause, row.pool) == ("unknown", None, "")
    assert not list(scores.judge(requirements.pools(stack_of(gpuPools=[T4])), unanswered))
