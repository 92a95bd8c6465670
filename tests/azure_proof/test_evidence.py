"""What a proof hands back: nothing private, and every difference from the rehearsal."""

import copy
import json
import secrets
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from azure_proof import comparing
from azure_proof.azure import Exchange
from azure_proof.evidence import Mask, StepResult

SUBSCRIPTION = str(uuid.uuid4())
GROUP = "aks-gpu-proof-123abc"
SECRETS = {
    "an id": str(uuid.uuid4()),
    "a token": f"eyJ{secrets.token_urlsafe(64)}.{secrets.token_urlsafe(64)}",
    "a key": secrets.token_hex(32),
    "a short password": f"{secrets.token_urlsafe(9)}7",
    # A random one without a digit, which one in twelve is, was taken for a plain word.
    "a password of letters": "WSXTfLzJIwxv",
    "an address": "20.31.7.199",
    "a range": "10.91.0.0/16",
    "an IPv6 address": "2603:1030:20e::1f",
    "a host": f"proof-{secrets.token_hex(4)}.hcp.eastus.azmk8s.io",
    "a person": f"{secrets.token_hex(4)}@contoso.com",
    "a name": f"kv-{secrets.token_hex(5)}",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_nothing_private_of_an_answer_is_in_the_evidence(secret: str) -> None:
    answer = {
        "properties": {
            "nodeLabels": {secret: secret},
            "availabilityZones": [secret],
            "vmSize": "Standard_NC4as_T4_v3",
            "networkProfile": {"podCidr": secret},
        }
    }
    said = {"properties": {"nodeLabels": {"proof": "label"}, "tags": {"group": GROUP}}}
    mask = Mask(SUBSCRIPTION, GROUP)
    row = mask.exchange(Exchange("pool", "PUT", "2026-08-01", said, 200, answer))

    assert secret not in json.dumps(row)
    assert GROUP not in json.dumps(row)
    assert {"path": "vmSize", "value": "Standard_NC4as_T4_v3"} in row["asked"]
    assert row["said"]["properties"]["nodeLabels"] == {"proof": "label"}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_nothing_private_of_an_error_is_in_the_evidence(secret: str) -> None:
    message = f"'{secret}' of /subscriptions/{SUBSCRIPTION} in {GROUP} is not allowed ({secret})."
    answer = {"error": {"code": "PropertyChangeNotAllowed", "message": message}}
    row = Mask(SUBSCRIPTION, GROUP).exchange(
        Exchange("pool", "PUT", "2026-08-01", None, 400, answer)
    )
    assert row["code"] == "PropertyChangeNotAllowed"
    assert row["message"].endswith("is not allowed (masked).")
    for private in (secret, SUBSCRIPTION, GROUP):
        assert private not in json.dumps(row)


def test_the_code_of_an_error_is_kept_in_a_message() -> None:
    text = "header: BadRequest: PropertyChangeNotAllowed, says the API."
    assert Mask(SUBSCRIPTION).message(text) == text


def proof() -> dict[str, Any]:
    said = {"properties": {"count": 1, "vmSize": "Standard_NC4as_T4_v3"}}
    answer = {
        "properties": {**said["properties"], "osSKU": "Ubuntu", "maxPods": 250, "nodeTaints": []}
    }
    refusal = {"error": {"code": "BadRequest", "message": "No."}}
    mask = Mask()
    rows = [
        mask.exchange(Exchange("pool", "PUT", "2026-08-01", said, 201, answer)),
        mask.exchange(Exchange("pool", "PUT", "2026-08-01", said, 400, refusal)),
    ]
    step = StepResult("put", "a PUT", "1 node", "1 node", 1.0, rows)
    return {"steps": [vars(step), vars(StepResult("end", "the end", "gone", "gone", 1.0))]}


def row(document: dict[str, Any], path: str) -> dict[str, Any]:
    (found,) = (row for row in exchange(document)["asked"] if row["path"] == path)
    asked: dict[str, Any] = found
    return asked


def exchange(document: dict[str, Any], number: int = 0) -> dict[str, Any]:
    one: dict[str, Any] = document["steps"][0]["exchanges"][number]
    return one


PLANTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "another value": lambda it: row(it, "osSKU").update(value="AzureLinux"),
    "another number": lambda it: row(it, "maxPods").update(value=110),
    "another type": lambda it: row(it, "count").update(value=True),
    "false for none": lambda it: row(it, "nodeTaints").update(value=False),
    "more": lambda it: exchange(it)["asked"].append({"path": "spotMaxPrice", "value": -1}),
    "less": lambda it: exchange(it)["asked"].pop(1),
    "another status": lambda it: exchange(it).update(status=200),
    "another code": lambda it: exchange(it, 1).update(code="Conflict"),
    "another message": lambda it: exchange(it, 1).update(message="Not now."),
    "another result": lambda it: it["steps"][1].update(actual="there"),
    "a request more": lambda it: it["steps"][0]["exchanges"].append(exchange(it, 1)),
    "a step more": lambda it: it["steps"].append({**it["steps"][1], "name": "more"}),
}


def test_the_same_proof_has_no_difference() -> None:
    assert list(comparing.differences(proof(), proof())) == []


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED.keys())
def test_each_planted_difference_is_found(plant: Callable[[dict[str, Any]], object]) -> None:
    azure = copy.deepcopy(proof())
    plant(azure)
    assert list(comparing.differences(azure, proof()))


def test_ten_planted_differences_are_ten() -> None:
    azure = copy.deepcopy(proof())
    single = [plant for name, plant in PLANTED.items() if name != "a request more"][:10]
    for plant in single:
        plant(azure)
    assert len(list(comparing.differences(azure, proof()))) == 10
