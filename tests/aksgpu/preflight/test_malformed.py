"""Answers that are none of Azure's, and none at all: told, each in its row, within a bound."""

import json
from typing import Any

import pytest

from aksgpu.outcome import Cause
from aksgpu.preflight import command, price_list, queries
from tests.aksgpu.preflight.conftest import T4, Place, the

SKU = {"resourceType": "virtualMachines", "name": T4["vmSize"], "locationInfo": [{"zones": ["1"]}]}


@pytest.mark.parametrize(
    ("path", "question", "body"),
    [
        ("/skus", "size", {"value": None}),
        ("/skus", "size", {"value": [None]}),
        ("/skus", "size", {"value": [SKU]}),
        ("/skus", "size", "<html><body>502 Bad Gateway</body></html>"),
        ("/usages", "quota", {"value": [{"name": {"value": "cores"}, "currentValue": "many"}]}),
    ],
)
def test_an_answer_that_cannot_be_read_is_one_row(
    place: Place, path: str, question: str, body: Any
) -> None:
    """`value: null`, null in a list, a page of a proxy: a traceback, and no JSON."""
    place.fault({"path": f"{path}$", "status": 200, "body": body})
    result = place.ask(gpuPools=[T4])
    row = the(result, question)
    assert (row.answer, row.cause) == ("unknown", Cause.UNANSWERED)
    assert row.what.startswith("the response is not valid")
    assert json.dumps(result.to_json())


@pytest.mark.parametrize(
    "answer", [{"delay": 5}, {"status": 429, "headers": {"Retry-After": "3600"}, "body": {}}]
)
def test_every_wait_has_a_timeout(
    place: Place, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Retry-After of an hour was waited for, and a price list that hung for 93 seconds."""
    monkeypatch.setattr(queries, "SECONDS", 2)
    monkeypatch.setattr(price_list, "SECONDS", 2)
    place.fault({"path": "/skus|/retail/prices", "times": 9, **answer})
    result = place.ask(gpuPools=[T4])
    assert "no response in time" in the(result, "size").what
    assert "did not answer within 2 seconds" in the(result, "price").what


def test_the_command_prints_json_for_any_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr(command, "_read", fails)
    assert command.preflight("dev", None, as_json=True) == 3
    printed = capsys.readouterr()
    assert json.loads(printed.out)["cause"] == "crashed"
    assert "RuntimeError: odd" in printed.err
