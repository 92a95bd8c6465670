"""Placement scores of spot machines, as preflight and the Azure CLI ask for them."""

from typing import Any

import pytest

PATH = (
    "/providers/Microsoft.Compute/locations/eastus/placementScores/spot/generate"
    "?api-version=2025-06-05"
)
T4, A100 = "Standard_NC8as_T4_v3", "Standard_NC24ads_A100_v4"


def asked(shop: Any, *sizes: str, **more: Any) -> Any:
    body = {
        "desiredLocations": ["eastus"],
        "desiredSizes": [{"sku": size} for size in sizes],
        "desiredCount": 2,
        "availabilityZones": False,
    }
    return shop.call("POST", PATH, body | more)


def scores(shop: Any, *sizes: str, **more: Any) -> dict[tuple[str, str], tuple[str, bool]]:
    reply = asked(shop, *sizes, **more)
    assert reply.status == 200, reply
    return {
        (each["sku"], each["availabilityZone"]): (each["score"], each["isQuotaAvailable"])
        for each in reply.body["placementScores"]
    }


def test_what_is_offered_has_a_high_score(shop: Any) -> None:
    assert scores(shop, T4) == {(T4, ""): ("High", True)}
    zonal = scores(shop, T4, availabilityZones=True)
    assert zonal == {(T4, zone): ("High", True) for zone in "123"}


def test_what_is_sold_out_has_a_low_score(shop: Any) -> None:
    shop.cloud.offer({"sizes": [{"size": A100, "is": "soldOut"}]})
    assert scores(shop, T4, A100) == {(T4, ""): ("High", True), (A100, ""): ("Low", True)}


def test_what_is_restricted_says_so(shop: Any) -> None:
    lines = [
        {"size": A100, "is": "absent"},
        {"size": T4, "is": "restricted", "zones": ["2"]},
    ]
    shop.cloud.offer({"sizes": lines})
    words = {key: word for key, (word, _) in scores(shop, T4, A100, availabilityZones=True).items()}
    restricted = "RestrictedSkuNotAvailable"
    assert words == {
        **{(T4, "1"): "High", (T4, "2"): restricted, (T4, "3"): "High"},
        **{(A100, zone): restricted for zone in "123"},
    }


def test_the_quota_of_spot_machines_is_judged_for_the_count(shop: Any) -> None:
    shop.cloud.offer({"limits": [{"name": "lowPriorityCores", "limit": 16}]})
    assert scores(shop, T4) == {(T4, ""): ("High", True)}
    assert scores(shop, T4, desiredCount=3) == {(T4, ""): ("High", False)}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"desiredSizes": [{"sku": "Standard_NoSuch"}]}, "InvalidParameter"),
        ({"desiredLocations": ["atlantis"]}, "InvalidParameter"),
        ({"desiredSizes": [{"sku": T4}] * 6}, "InvalidRequestContent"),
        ({"desiredSizes": []}, "InvalidRequestContent"),
        ({"desiredSizes": [T4]}, "InvalidRequestContent"),
        ({"desiredLocations": ["eastus"] * 9}, "InvalidRequestContent"),
        ({"desiredCount": "many"}, "InvalidRequestContent"),
    ],
)
def test_what_azure_does_not_take_is_refused(shop: Any, more: dict[str, Any], code: str) -> None:
    reply = asked(shop, T4, **more)
    assert (reply.status, reply.body["error"]["code"]) == (400, code)
