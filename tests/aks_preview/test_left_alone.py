"""An update does not undo what others did since, and its preview does not show."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_preview.aks_resource import as_others_left
from tests.aks_preview.odd.azure import POOL, Answer, OddAzure, serving
from tests.aks_preview.odd.clock import run
from tests.aks_preview.odd.driver import Driver, Outcome, driving
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

_COUNT = st.integers(1, 9)
_FIXED = st.fixed_dictionaries({"count": _COUNT})
_SCALED = st.builds(
    lambda count: {"enableAutoScaling": True, "minCount": 1, "maxCount": 9, "count": count}, _COUNT
)
POOLS = _FIXED | _SCALED


def labelled(label: str) -> dict[str, Any]:
    return {"nodeLabels": {"a": label}}


@settings(deadline=None)
@given(POOLS, POOLS, POOLS, st.booleans())
def test_an_update_sends_the_live_count_unless_the_program_changes_it(
    inputs: Any, changed: Any, live: Any, is_inline: bool
) -> None:
    """`az aks nodepool scale` made them seven; the edit of a label made them one again."""

    def sent(new: dict[str, Any], *, is_finished: bool) -> dict[str, Any]:
        whole = [inputs | labelled("old"), new | labelled("new"), live]
        if is_inline:
            whole = [{"agentPoolProfiles": [pool | {"name": "a"}]} for pool in whole]
        body = as_others_left(whole[1], whole[0], whole[2], is_finished=is_finished)
        pool = dict(body["agentPoolProfiles"][0] if is_inline else body)
        assert pool.pop("nodeLabels") == {"a": "new"}
        pool.pop("name", None)
        return pool

    # The update is about something else.
    assert sent(inputs, is_finished=True) == live
    # What was not finished, or what the program changed, is made as it says.
    for new, is_finished in ((inputs, False), (changed, False), (changed, changed != inputs)):
        count = live["count"] if "maxCount" in new else new["count"]
        assert sent(new, is_finished=is_finished) == new | {"count": count}


@pytest.mark.parametrize(
    ("before", "after", "live", "sent"),
    [
        ({"a": "b"}, {"a": "c"}, {"A": "b", "cost": "1"}, {"a": "c", "cost": "1"}),
        ({"a": "b", "c": "d"}, {"a": "b"}, {"a": "b", "C": "d", "cost": "1"}, None),
        # Taken out.
        ({"a": "b"}, {}, {"a": "b", "cost": "1"}, {"cost": "1"}),
        ({"a": "b"}, {}, {"a": "b"}, {}),
        ({}, {"cost": "2"}, {"cost": "1"}, {"cost": "2"}),
    ],
)
def test_tags_of_other_clients_are_sent_back(before: Any, after: Any, live: Any, sent: Any) -> None:
    expected = {"a": "b", "cost": "1"} if sent is None else sent
    values = ({"tags": tags} for tags in (after, before, live))

    assert as_others_left(*values, is_finished=True)["tags"] == expected


def test_an_edit_of_a_label_keeps_the_live_count() -> None:
    """Somebody turned the autoscaler on: the edit of a label sent one node for its seven."""
    azure = OddAzure()
    scaled = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9, "count": 7}
    azure.put(POOL, {"properties": {"vmSize": POOL_INPUTS["vmSize"], **scaled}})
    made = POOL_INPUTS | {"provisioningState": "Succeeded"}

    async def edit() -> None:
        async with serving(azure), driving(azure) as provider:
            done = await provider.update(POOL, made, POOL_INPUTS, POOL_INPUTS | labelled("a"))
            assert not done.error

    run(edit())

    put = next(request for request in azure.requests if request.phase == "put")
    assert json.loads(put.body)["properties"].items() >= (scaled | labelled("a")).items()


def at_work(state: str, count: int = 1) -> dict[str, Any]:
    """The pool, while somebody else works on it."""
    made = {"vmSize": POOL_INPUTS["vmSize"], "count": count, "provisioningState": state}
    return {"id": POOL, "properties": made}


async def refreshed(azure: OddAzure, provider: Driver, state: str) -> Outcome:
    azure.put(POOL, at_work(state))
    first = await provider.read(POOL, POOL_INPUTS | {"provisioningState": "Succeeded"}, POOL_INPUTS)
    # What is seen twice is no other.
    return await provider.read(POOL, first.outputs, first.inputs)


async def made(azure: OddAzure, provider: Driver, state: str) -> Outcome:
    azure.bend("get", for_ever=Answer(body=at_work(state)))
    outcome = await provider.create(POOL_INPUTS)
    azure.bend("get")
    return outcome


async def updated(azure: OddAzure, provider: Driver, state: str) -> Outcome:
    azure.put(POOL, at_work("Succeeded"))
    azure.bend("get", for_ever=Answer(body=at_work(state)))
    outcome = await provider.update(POOL, POOL_INPUTS, POOL_INPUTS, POOL_INPUTS | labelled("b"))
    azure.bend("get")
    return outcome


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (refreshed, "Upgrading"),
        (refreshed, "Scaling"),
        (refreshed, "Failed"),
        (made, "Updating"),
        (updated, "Updating"),
    ],
)
def test_a_refresh_during_another_clients_operation_keeps_the_live_count(
    answer: Any, state: str
) -> None:
    """A refresh during somebody's upgrade: the next edit of a label took their nodes back."""
    azure = OddAzure()

    async def edit() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            known = await answer(azure, provider, state)
            assert known.outputs["provisioningState"] == state
            azure.put(POOL, at_work("Succeeded", count=7))
            return await provider.update(
                POOL, known.outputs, POOL_INPUTS, POOL_INPUTS | labelled("a")
            )

    done = run(edit())

    put = [request for request in azure.requests if request.phase == "put"][-1]
    assert json.loads(put.body)["properties"]["count"] == 7
    assert not done.error
    # It is done, and says no more than that.
    assert "__finished" not in done.outputs


def test_a_creation_waits_until_the_pool_itself_has_succeeded() -> None:
    azure = OddAzure()
    azure.bend("get", *[Answer(body=at_work("Updating"))] * 2)

    async def create() -> Outcome:
        async with serving(azure), driving(azure) as provider:
            return await provider.create(POOL_INPUTS)

    assert run(create()).outputs["provisioningState"] == "Succeeded"
    assert azure.phases().count("get") == 3


@pytest.mark.parametrize("state", ["Creating", "Updating", "Failed"])
def test_an_unfinished_update_sends_the_values_of_the_program(state: str) -> None:
    azure = OddAzure()

    async def go_on() -> None:
        async with serving(azure), driving(azure) as provider:
            azure.put(POOL, at_work(state, count=7))
            known = await provider.read(POOL, POOL_INPUTS, POOL_INPUTS)
            await provider.update(POOL, known.outputs, POOL_INPUTS, POOL_INPUTS | labelled("a"))

    run(go_on())

    put = [request for request in azure.requests if request.phase == "put"][-1]
    assert json.loads(put.body)["properties"]["count"] == POOL_INPUTS["count"]
