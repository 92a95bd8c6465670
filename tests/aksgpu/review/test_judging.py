"""What a change brings for its own judgement does not count by itself."""

import json
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aksgpu.allowances import Allowance
from aksgpu.review.judging import Criteria, criteria_of

OURS = (Allowance("policies", "dev"),)
NOTHING = Criteria(None, allows_retired=False)


def configured(allows_retired: bool = False, **rules: Any) -> Criteria:
    return Criteria(json.dumps(rules), allows_retired)


LOOSER = configured(all="disabled", allows_retired=True)


@pytest.mark.parametrize("base", [NOTHING, configured(a="mandatory")])
def test_rules_are_configured_by_the_base(base: Criteria) -> None:
    """A pull request could switch the whole pack off, and no report said so."""
    criteria, changes = criteria_of("dev", LOOSER, base, ())
    assert criteria == base
    assert [change.what for change in changes.changes][-2:] == ["all", "allowRetired"]
    assert "--allow policies:dev" in changes.result


def test_an_owner_can_allow_the_new_configuration() -> None:
    criteria, changes = criteria_of("dev", LOOSER, NOTHING, OURS)
    assert criteria == LOOSER
    assert changes.changes


@pytest.mark.parametrize("allowance", ["policies:prod", "replace:dev/policies"])
def test_an_unrelated_allowance_does_not_allow_the_new_configuration(allowance: str) -> None:
    assert criteria_of("dev", LOOSER, NOTHING, (Allowance.read(allowance),))[0] == NOTHING


def test_a_configuration_without_a_base_is_used_as_it_is() -> None:
    criteria, changes = criteria_of("dev", LOOSER, None, ())
    assert criteria == LOOSER
    assert changes.changes == []


def test_each_changed_rule_is_shown_before_and_after() -> None:
    now = configured(a={"enforcementLevel": "advisory", "sizes": []}, c="disabled")
    base = configured(a="mandatory", b="disabled", c="disabled")
    assert [astuple(change) for change in criteria_of("dev", now, base, ())[1].changes] == [
        ("a", '"mandatory"', '{"enforcementLevel": "advisory", "sizes": []}'),
        ("b", '"disabled"', "not configured"),
    ]


TEXTS = st.none() | st.text() | st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
).map(json.dumps)  # fmt: skip


@given(TEXTS, st.booleans(), TEXTS, st.booleans())
@example("NaN", False, "NaN", False)
def test_any_configuration_is_judged_by_its_base_and_shown_if_different(
    now: str | None, retired: bool, base: str | None, was_retired: bool
) -> None:
    before = Criteria(base, was_retired)
    criteria, changes = criteria_of("dev", Criteria(now, retired), before, ())
    assert criteria == before
    assert criteria_of("dev", before, before, ())[1].changes == []
    assert retired == was_retired or "allowRetired" in [each.what for each in changes.changes]
