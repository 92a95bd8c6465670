"""An update does not undo what others did, before it and meanwhile."""

import json
from collections.abc import Awaitable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_catalogue import aks_properties
from aks_preview.aks_resource import as_others_left, emptied
from tests.aks_preview.odd.azure import POOL, Answer, OddAzure
from tests.aks_preview.odd.driver import Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_events import DROPPED, PENDING, pool
from tests.aks_preview.odd.test_instrument import POOL_INPUTS

_COUNT = st.integers(1, 9)
_FIXED = st.fixed_dictionaries({"count": _COUNT})
_SCALED = st.builds(
    lambda count: {"enableAutoScaling": True, "minCount": 1, "maxCount": 9, "count": count}, _COUNT
)
POOLS = _FIXED | _SCALED
SCALED = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9}
MADE = POOL_INPUTS | {"provisioningState": "Succeeded"}


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
            whole = [{"agentPoolProfiles": [each | {"name": "a"}]} for each in whole]
        body = as_others_left(whole[1], whole[0], whole[2], is_finished=is_finished)
        made = dict(body["agentPoolProfiles"][0] if is_inline else body)
        assert made.pop("nodeLabels") == {"a": "new"}
        made.pop("name", None)
        return made

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
        # Taken out.
        ({"a": "b"}, {}, {"a": "b", "cost": "1"}, {"cost": "1"}),
        ({"a": "b"}, {}, {"a": "b"}, {}),
        ({}, {"cost": "2"}, {"cost": "1"}, {"cost": "2"}),
    ],
)
def test_tags_of_other_clients_are_sent_back(before: Any, after: Any, live: Any, sent: Any) -> None:
    values = ({"tags": tags} for tags in (after, before, live))

    assert as_others_left(*values, is_finished=True)["tags"] == sent


@pytest.mark.parametrize("name", aks_properties.POOL.emptied_by)
def test_removed_properties_are_sent_as_empty_values(name: str) -> None:
    """AKS keeps what a PUT leaves out: the tags stayed, and the autoscaler of an inline pool."""
    value, empty = {"tags": {"a": "b"}, "nodeLabels": {"a": "b"}}, aks_properties.POOL.emptied_by
    old, new = {"vmSize": "one", name: value.get(name, True)}, {"vmSize": "one"}

    assert emptied(empty, old, new) == {**new, name: empty[name]}
    pools = [{"agentPoolProfiles": [{"name": "a", **each}]} for each in (old, new)]
    inline = emptied(aks_properties.CLUSTER.emptied_by, *pools)
    assert inline["agentPoolProfiles"] == [{"name": "a", **new, name: empty[name]}]


def bodies(azure: OddAzure) -> list[dict[str, Any]]:
    sent = [json.loads(made.body)["properties"] for made in azure.requests if made.phase == "put"]
    return sent


def label(provider: Driver) -> Awaitable[Outcome]:
    return provider.update(POOL, MADE, POOL_INPUTS, POOL_INPUTS | labelled("a"))


class Shared(OddAzure):
    """Where another client changes the pool after each of the first looks at it."""

    def __init__(self, changes: int) -> None:
        super().__init__()
        self._changes = iter(range(2, changes + 2))
        self.scale(1)

    def scale(self, count: int) -> None:
        self.put(POOL, {"properties": {"count": count, "provisioningState": "Succeeded"}})

    def _own(self, phase: str, body: bytes, path: str, *, is_done: bool) -> Answer:
        answer = super()._own(phase, body, path, is_done=is_done)
        if phase == "look" and (count := next(self._changes, None)):
            self.scale(count)
        return answer


@pytest.mark.parametrize("changes", [0, 1, 3])
def test_what_another_client_does_between_a_look_and_the_put_is_not_undone(changes: int) -> None:
    """Both read two nodes; the other made them nine, and the PUT made them two again."""
    azure = Shared(changes)

    assert outcome_of(azure, label).error == ""

    assert bodies(azure)[-1] == {"vmSize": "Standard_NC8as_T4_v3", "count": changes + 1} | labelled(
        "a"
    )
    assert azure.phases().count("put") == azure.phases().count("look") == changes + 1


def test_an_update_that_may_have_arrived_looks_again() -> None:
    """Its own first try has changed the eTag."""
    azure = Shared(0)
    azure.bend("put", DROPPED)

    assert outcome_of(azure, label).error == ""
    assert azure.phases().count("put") == 2


def test_an_update_that_waited_sends_the_count_read_after_the_wait() -> None:
    """Two nodes before another operation, nine after it: the PUT made them two."""
    azure = Shared(1)
    azure.bend("put", PENDING)

    assert outcome_of(azure, label).error == ""
    assert [body["count"] for body in bodies(azure)] == [1, 2]


@pytest.mark.parametrize(("count", "live"), [(1, 9), (9, 9)])
def test_autoscaling_is_not_turned_off_with_another_number_of_nodes(count: int, live: int) -> None:
    """To take minCount and maxCount out sent the program's count, whatever AKS had made of it."""
    azure = OddAzure()
    azure.put(POOL, {"properties": SCALED | {"count": live, "provisioningState": "Succeeded"}})
    inputs = POOL_INPUTS | {"count": count}

    async def turn_off(provider: Driver) -> Outcome:
        return await provider.update(POOL, MADE | SCALED, inputs | SCALED, inputs)

    outcome = outcome_of(azure, turn_off)

    assert ("set its count to 9" in outcome.error) is (count != live)
    assert len(bodies(azure)) == (count == live)


def state_of(at_work: str, phase: str) -> Any:
    """A step of another client's operation, seen by a refresh or at the end of our own."""

    async def see(azure: OddAzure, provider: Driver) -> Outcome:
        azure.put(POOL, {"properties": {"count": 1, "provisioningState": at_work}})
        if phase == "refresh":
            first = await provider.read(POOL, MADE, POOL_INPUTS)
            return await provider.read(POOL, first.outputs, first.inputs)
        azure.bend("get", for_ever=pool(at_work, count=1))
        seen = await provider.update(POOL, MADE, POOL_INPUTS, POOL_INPUTS | labelled("b"))
        azure.bend("get")
        return seen

    return see


@pytest.mark.parametrize(
    ("state", "phase"),
    [("Upgrading", "refresh"), ("Failed", "refresh"), ("Updating", "update")],
)
def test_another_clients_operation_keeps_the_live_count(state: str, phase: str) -> None:
    """A refresh during somebody's upgrade: the next edit of a label took their nodes back."""
    azure = OddAzure()

    async def edit(provider: Driver) -> Outcome:
        known = await state_of(state, phase)(azure, provider)
        assert known.outputs["provisioningState"] == state
        azure.put(POOL, {"properties": {"count": 7, "provisioningState": "Succeeded"}})
        return await provider.update(POOL, known.outputs, POOL_INPUTS, POOL_INPUTS | labelled("a"))

    done = outcome_of(azure, edit)

    assert bodies(azure)[-1]["count"] == 7
    # It is done, and says no more than that.
    assert (done.error, "__finished" in done.outputs) == ("", False)


@pytest.mark.parametrize("state", ["Creating", "Updating", "Failed"])
def test_an_unfinished_update_sends_the_values_of_the_program(state: str) -> None:
    azure = OddAzure()
    azure.put(POOL, {"properties": {"count": 7, "provisioningState": state}})

    async def go_on(provider: Driver) -> Outcome:
        known = await provider.read(POOL, POOL_INPUTS, POOL_INPUTS)
        return await provider.update(POOL, known.outputs, POOL_INPUTS, POOL_INPUTS | labelled("a"))

    outcome_of(azure, go_on)

    assert bodies(azure)[-1]["count"] == POOL_INPUTS["count"]
