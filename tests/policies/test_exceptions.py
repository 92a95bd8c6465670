"""Exceptions by resource, and the line about what the pack's configuration lets through."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue.today import TODAY_VARIABLE
from policies.configuration import CONFIGURATION
from policies.exceptions import RuleException
from policies.rules import RULES
from policies.sdk import LINE
from tests.policies.gpu_stacks import SPECIALIZED, TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, pack_says

TAINTED, OWNER = "gpu-pool-tainted", "one-gpu-stack-owner"
STACK = Resource(type="pulumi:pulumi:Stack", name="aks-gpu-dev", properties={})


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2026-11-30")


def excepting(resource: str, until: str = "2026-11-30") -> dict[str, Any]:
    return {"exceptions": [{"resource": resource, "reason": "being moved", "until": until}]}


def found_by_rule(
    config: dict[str, Any], *resources: Resource, **levels: str
) -> dict[str, list[str]]:
    """The names of resources by rule."""
    reported: dict[str, list[str]] = {}
    by_rule = {name.replace("_", "-"): level for name, level in levels.items()}
    for name, rule, _ in pack_says(RULES, STACK, *resources, config=config, levels=by_rule):
        reported.setdefault(rule, []).append(name)
    return reported


def line() -> str:
    """The line of the last run."""
    return CONFIGURATION.line().removeprefix("The pack's configuration: ")


def test_the_line_is_advice_at_the_end() -> None:
    *_, last = pack_says(RULES, OPEN, config={}, levels={OWNER: "disabled"})
    assert last == ("", LINE, f"The pack's configuration: {OWNER} is disabled, not mandatory.")


OPEN = pool("open", nodeTaints=[])


@pytest.mark.parametrize("resource", ["open", "op*", OPEN.urn, "urn:*::open"])
def test_a_resource_is_excepted_by_name_pattern_or_urn(resource: str) -> None:
    """Without exceptions, one special pool had the rule switched off for the whole stack."""
    reported = found_by_rule({TAINTED: excepting(resource)}, OPEN, pool("other", nodeTaints=[]))
    assert reported[TAINTED] == ["other"]
    assert line() == f"{TAINTED} excepts open until 2026-11-30 (being moved)."


LETTERS = st.text(st.sampled_from("ab[]?!-.\\^$(){}|+\n:"), max_size=5)


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(LETTERS, min_size=1, max_size=4), fill=LETTERS, other=LETTERS)
def test_a_star_stands_for_any_letters_and_every_other_sign_for_itself(
    parts: list[str], fill: str, other: str
) -> None:
    """`pool[1]` did not cover pool[1], and `a?` covered ab."""
    one = RuleException(TAINTED, "*".join(parts), "being moved", "2026-11-30")
    assert one.covers(f"urn:pulumi:dev::aks-gpu::t::{fill.join(parts)}")
    if len(parts) == 1:
        assert one.covers(f"urn:pulumi:dev::aks-gpu::t::{other}") == (other == parts[0])


def test_an_expired_exception_is_reported_and_has_no_effect() -> None:
    reported = found_by_rule({TAINTED: excepting("open", "2026-11-29")}, OPEN)
    assert reported[TAINTED] == ["open"]
    assert line() == f"the exception of open from {TAINTED} expired on 2026-11-29."


def test_rules_on_the_stack_have_them_too() -> None:
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    assert found_by_rule({}, *stack)[OWNER] == ["gpu"]
    assert OWNER not in found_by_rule({OWNER: excepting("gpu")}, *stack)
    assert OWNER in found_by_rule({OWNER: excepting("plugin")}, *stack)


def test_a_cap_on_the_stack_is_excepted_by_the_name_of_the_stack() -> None:
    cap: dict[str, Any] = {"gpus": 0}
    assert "gpu-count-cap" in found_by_rule({"gpu-count-cap": cap}, pool())
    excepted = cap | excepting("aks-gpu-dev")
    assert "gpu-count-cap" not in found_by_rule({"gpu-count-cap": excepted}, pool())


def test_an_exception_covers_a_resource_that_cannot_be_judged() -> None:
    """A new pool with a size of another stack could not pass a review."""
    unknown = pool("gpu", vmSize=UNKNOWN_STRING_VALUE), daemon_set(TOLERATION)
    said = [text for _, rule, text in pack_says(RULES, *unknown, config={}) if rule == OWNER]
    assert [text.startswith(CANNOT_RUN) for text in said] == [True]
    assert OWNER not in found_by_rule({OWNER: excepting("gpu")}, *unknown)


def test_lowered_and_switched_off_rules_are_told() -> None:
    """No report mentioned a configuration that switched everything off."""
    levels = {"one_gpu_stack_owner": "advisory", "host_encryption": "mandatory"}
    reported = found_by_rule({}, OPEN, gpu_pool_tainted="disabled", **levels)
    assert TAINTED not in reported
    assert sorted(line().rstrip(".").split("; ")) == [
        f"{TAINTED} is disabled, not advisory", f"{OWNER} is advisory, not mandatory",
    ]  # fmt: skip


def test_all_rules_that_are_switched_off_together_are_told_once() -> None:
    """`all` was called a rule that the pack does not have, and 36 lines more said the same."""
    off = {rule.name: "disabled" for rule in RULES}
    assert [*found_by_rule({}, OPEN, all="disabled", **off)] == [LINE]
    assert line() == "all rules are disabled."


@pytest.mark.parametrize("day", ["tomorrow", "2026-02-30", "٢٠٢٦-11-30", "30.11.2026"])
def test_no_exception_is_in_effect_on_an_unknown_date(
    monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    """With an exception, an invalid date ended the pack."""
    monkeypatch.setenv(TODAY_VARIABLE, day)
    reported = found_by_rule({TAINTED: excepting("*", "9999-12-31")}, OPEN)
    assert "open" in reported[TAINTED]
    assert line() == (
        f"{TODAY_VARIABLE} is {day!r}: set a date, such as 2026-11-30. "
        "Until then, no exception is in effect."
    )


def test_a_rule_that_does_not_exist_is_told() -> None:
    """Pulumi ignores it silently."""
    found_by_rule({}, **{"gpu-pool-taintet": "mandatory"})
    assert line() == "no rule is called gpu-pool-taintet."


def test_nothing_is_said_without_a_configuration() -> None:
    assert found_by_rule({}, pool()) == {}
