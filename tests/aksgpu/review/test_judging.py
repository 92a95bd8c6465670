"""What a change brings for its own judgement does not count by itself."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aksgpu.allowances import Allowance
from aksgpu.review.judging import Criteria, judging_of
from aksgpu.review.masking import MASK

OURS = (Allowance("policies", "dev"),)
NOTHING = Criteria(None, allows_retired=False)


def configured(allows_retired: bool = False, **rules: Any) -> Criteria:
    return Criteria(json.dumps(rules), allows_retired)


LOOSER = configured(all="disabled", allows_retired=True)


@pytest.mark.parametrize("base", [NOTHING, configured(a="mandatory")])
def test_rules_are_configured_by_the_base(base: Criteria) -> None:
    """A pull request could switch the whole pack off, and no report said so."""
    judged = judging_of("dev", LOOSER, base, ())
    assert judged.by == base
    assert [brought.what for brought in judged.brought][-2:] == ["all", "allowRetired"]
    assert "--allow policies:dev" in judged.result


def test_an_owner_can_allow_the_new_configuration() -> None:
    judged = judging_of("dev", LOOSER, NOTHING, OURS)
    assert judged.by == LOOSER
    assert judged.brought


@pytest.mark.parametrize("allowance", ["policies:prod", "replace:dev/policies"])
def test_an_unrelated_allowance_does_not_allow_the_new_configuration(allowance: str) -> None:
    assert judging_of("dev", LOOSER, NOTHING, (Allowance.read(allowance),)).by == NOTHING


def test_a_configuration_without_a_base_is_used_as_it_is() -> None:
    judged = judging_of("dev", LOOSER, None, ())
    assert judged.by == LOOSER
    assert judged.brought == []


def test_each_changed_rule_is_shown_before_and_after() -> None:
    secret = "ghs_" + "a1B2" * 9
    now = configured(a={"enforcementLevel": "advisory", "token": secret}, c="disabled")
    base = configured(a="mandatory", b="disabled", c="disabled")
    assert [tuple(brought) for brought in judging_of("dev", now, base, ()).brought] == [
        ("a", '"mandatory"', f'{{"enforcementLevel": "advisory", "token": {MASK}}}'),
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
    judged = judging_of("dev", Criteria(now, retired), Criteria(base, was_retired), ())
    assert judged.by == Criteria(base, was_retired)
    if judging_of("dev", Criteria(base, was_retired), Criteria(base, was_retired), ()).brought:
        raise AssertionError("nothing is brought by what stays")
    assert retired == was_retired or "allowRetired" in [each.what for each in judged.brought]
