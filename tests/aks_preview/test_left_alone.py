"""An update does not undo what others did, before it and meanwhile."""

from collections.abc import Awaitable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aks_catalogue import aks_properties
from aks_preview.aks_resource import as_others_left, emptied
from tests.aks_preview.odd.azure import POOL, Answer, OddAzure, refusal
from tests.aks_preview.odd.driver import POOL_INPUTS, Driver, Outcome, outcome_of
from tests.aks_preview.odd.test_events import DROPPED, PENDING, pool

_COUNT = st.integers(1, 9)
SCALED: dict[str, Any] = {"enableAutoScaling": True, "minCount": 1, "maxCount": 9}
POOLS = st.fixed_dictionaries({"count": _COUNT}) | _COUNT.map(lambda n: {**SCALED, "count": n})
MADE = POOL_INPUTS | {"provisioningState": "Succeeded"}
LABEL = {"nodeLabels": {"a": "new"}}


@settings(deadline=None)
@given(POOLS, POOLS, POOLS, st.booleans())
def test_an_update_sends_the_live_count_unless_the_program_changes_it(
    inputs: Any, changed: Any, live: Any, is_inline: bool
) -> None:
    """`az aks nodepool scale` made them seven; the edit of a label made them one again."""

    def sent(new: dict[str, Any], *, is_finished: bool) -> dict[str, Any]:
        whole = [inputs, new | LABEL, live]
        if is_inline:
            whole = [{"agentPoolProfiles": [each | {"name": "a"}]} for each in whole]
        body = as_others_left(whole[1], whole[0], whole[2], is_finished=is_finished)
        made = dict(body["agentPoolProfiles"][0] if is_inline else body)
        assert {"nodeLabels": made.pop("nodeLabels")} == LABEL
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
        ({}, {"cost": "2"}, {"cost": "1"}, {"cost": "2"}),
    ],
)
def test_tags_of_other_clients_are_sent_back(before: Any, after: Any, live: Any, sent: Any) -> None:
    values = ({"tags": tags} for tags in (after, before, live))

    assert as_others_left(*values, is_finished=True)["tags"] == sent


@pytest.mark.parametrize("name", aks_properties.POOL.emptied_by)
def test_removed_properties_are_sent_as_empty_values(name: str) -> None:
    """AKS keeps what a PUT leaves out: the tags stayed, and the autoscaler of an inline pool."""
    empty, value = aks_properties.POOL.emptied_by, {"a": "b"} if name != "enableAutoScaling" else 1
    old, new = {"name": "a", name: value}, {"name": "a"}

    assert emptied(empty, old, new) == {**new, name: empty[name]}
    inline = emptied({}, *({"agentPoolProfiles": [each]} for each in (old, new)))
    assert inline == {"agentPoolProfiles": [{**new, name: empty[name]}]}


def label(provider: Driver) -> Awaitable[Outcome]:
    return provider.update(POOL, MADE, POOL_INPUTS, POOL_INPUTS | LABEL)


class Scaled(OddAzure):
    """Where another client adds a node after each of the first looks at the pool."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._counts = iter(range(2, times + 2))
        self.put(count=1)

    def _own(self, phase: str, body: bytes, path: str, *, is_done: bool) -> Answer:
        answer = super()._own(phase, body, path, is_done=is_done)
        if phase == "look" and (count := next(self._counts, None)):
            self.put(count=count)
        return answer


@pytest.mark.parametrize(
    ("times", "answers", "puts"),
    [(0, [], 1), (1, [], 2), (3, [], 4), (0, [DROPPED], 2), (1, [PENDING], 2)],
)
def test_what_another_client_does_between_a_look_and_the_put_is_not_undone(
    times: int, answers: list[Answer], puts: int
) -> None:
    """Both read two nodes; the other made them nine, and the PUT made them two again.

    What waited, or perhaps arrived and has changed the eTag itself, looks again too.
    """
    azure = Scaled(times)
    azure.bend("put", *answers)

    assert outcome_of(azure, label).error == ""

    assert azure.puts()[-1][1] == {"vmSize": POOL_INPUTS["vmSize"], "count": times + 1, **LABEL}
    assert len(azure.puts()) == puts


@pytest.mark.parametrize("count", [1, 9])
def test_autoscaling_is_not_turned_off_with_another_number_of_nodes(count: int) -> None:
    """To take minCount and maxCount out sent the program's count, whatever AKS had made of it."""
    azure, inputs = OddAzure(), POOL_INPUTS | {"count": count}
    azure.put(**SCALED, count=9)

    async def turn_off(provider: Driver) -> Any:
        return await provider.update(POOL, MADE | SCALED, inputs | SCALED, inputs)

    assert ("set its count to 9" in outcome_of(azure, turn_off).error) is (count == 1)
    assert len(azure.puts()) == (count == 9)


@pytest.mark.parametrize(
    ("state", "is_our_update", "count"),
    [
        # Another client is at work, or has failed, since our update: its nodes stay.
        ("Upgrading", False, 7),
        ("Failed", False, 7),
        ("Updating", True, 7),
        # Our own last one did not end.
        *((state, None, 1) for state in ("Creating", "Updating", "Failed")),
    ],
)
def test_the_live_count_is_kept_unless_our_own_update_did_not_finish(
    state: str, is_our_update: bool | None, count: int
) -> None:
    """A refresh during somebody's upgrade: the next edit of a label took their nodes back."""
    azure = OddAzure()
    azure.put(state=state, count=1)

    async def edit(provider: Driver) -> Outcome:
        before = POOL_INPUTS if is_our_update is None else MADE
        if is_our_update:
            azure.bend("get", for_ever=pool(state, count=1))
            known = await label(provider)
            azure.bend("get")
        else:
            first = await provider.read(POOL, before, POOL_INPUTS)
            known = await provider.read(POOL, first.outputs, POOL_INPUTS)
        azure.put(count=7)
        return await provider.update(POOL, known.outputs, POOL_INPUTS, POOL_INPUTS | LABEL)

    done = outcome_of(azure, edit)

    assert azure.puts()[-1][1]["count"] == count
    assert (done.error, done.outputs["provisioningState"]) == ("", "Succeeded")


def test_an_update_that_azure_calls_outdated_without_a_change_ends() -> None:
    """It looked again for an hour: what it sent was not what Azure takes for the etag."""
    azure = OddAzure()
    azure.put(**POOL_INPUTS)
    azure.bend("put", for_ever=refusal(412, "PreconditionFailed", "Its eTag is another one."))

    outcome = outcome_of(
        azure, lambda odd: odd.update(POOL, MADE, POOL_INPUTS, POOL_INPUTS | {"count": 2})
    )

    assert "PreconditionFailed" in outcome.error
    assert azure.phases().count("put") == 2
