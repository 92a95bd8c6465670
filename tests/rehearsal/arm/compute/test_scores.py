"""Placement scores of spot machines, as preflight and the Azure CLI ask for them."""

from typing import Any

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


def scores(shop: Any, *sizes: str, **more: Any) -> dict[tuple[str, str], str]:
    reply = asked(shop, *sizes, **more)
    assert reply.status == 200, reply
    return {
        (each["sku"], each["availabilityZone"]): each["score"]
        for each in reply.body["placementScores"]
    }


def test_what_is_offered_has_a_high_score(shop: Any) -> None:
    assert scores(shop, T4) == {(T4, ""): "High"}
    zonal = scores(shop, T4, availabilityZones=True)
    assert zonal == {(T4, zone): "High" for zone in "123"}


def test_what_is_sold_out_has_a_low_score(shop: Any) -> None:
    shop.cloud.offer({"sizes": [{"size": A100, "is": "soldOut"}]})
    assert scores(shop, T4, A100) == {(T4, ""): "High", (A100, ""): "Low"}


def test_what_is_sold_out_in_a_zone_has_a_low_score_there(shop: Any) -> None:
    lines: list[dict[str, Any]] = [
        {"size": T4, "is": "soldOut", "zones": ["2"], "priority": "spot"},
        {"size": A100, "is": "soldOut", "priority": "regular"},
    ]
    shop.cloud.offer({"sizes": lines})
    words = scores(shop, T4, A100, availabilityZones=True)
    assert words == {(size, zone): "High" for size in (T4, A100) for zone in "123"} | {
        (T4, "2"): "Low"
    }
    assert scores(shop, T4)[T4, ""] == "High"


def test_what_is_restricted_says_so(shop: Any) -> None:
    lines = [
        {"size": A100, "is": "absent"},
        {"size": T4, "is": "restricted", "zones": ["2"]},
    ]
    shop.cloud.offer({"sizes": lines})
    words = scores(shop, T4, A100, availabilityZones=True)
    restricted = "RestrictedSkuNotAvailable"
    assert words == {
        **{(T4, "1"): "High", (T4, "2"): restricted, (T4, "3"): "High"},
        **{(A100, zone): restricted for zone in "123"},
    }


def test_a_size_that_azure_does_not_know_is_refused(shop: Any) -> None:
    reply = asked(shop, "Standard_NoSuch")
    assert (reply.status, reply.body["error"]["code"]) == (400, "InvalidParameter")
