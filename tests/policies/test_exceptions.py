"""Exceptions by resource, and the line about what the pack's configuration lets through."""

from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue.today import TODAY_VARIABLE
from policies.configuration import CONFIGURATION
from policies.exceptions import RuleException
from policies.rules import RULES
from policies.sdk import LINE
from tests.policies.gpu_stacks import SPECIALIZED, TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, pack_says

TAINTED, OWNER, CAP = "gpu-pool-tainted", "one-gpu-stack-owner", "gpu-count-cap"
STACK = Resource(type="pulumi:pulumi:Stack", name="aks-gpu-dev", properties={})
OPEN = pool("open", nodeTaints=[])


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


@pytest.mark.parametrize("resource", ["open", "op*", OPEN.urn, "urn:*::open"])
def test_a_resource_is_excepted_by_name_pattern_or_urn(resource: str) -> None:
    """Without exceptions, one special pool had the rule switched off for the whole stack."""
    reported = found_by_rule({TAINTED: excepting(resource)}, OPEN, pool("other", nodeTaints=[]))
    assert reported[TAINTED] == ["other"]
    assert line() == f"{TAINTED} excepts open until 2026-11-30 (being moved)."


@pytest.mark.parametrize(
    ("pattern", "name", "covers"),
    [
        ("pool[1]", "pool[1]", True),
        ("pool[1]", "pool1", False),
        ("a?", "ab", False),
        ("a*\\.*", "a::b\\.c", True),
    ],
)
def test_a_star_stands_for_any_letters_and_every_other_sign_for_itself(
    pattern: str, name: str, covers: bool
) -> None:
    """`pool[1]` did not cover pool[1], and `a?` covered ab."""
    one = RuleException(TAINTED, pattern, "being moved", "2026-11-30")
    assert one.covers(f"urn:pulumi:dev::aks-gpu::t::{name}") is covers


def test_an_expired_exception_is_reported_and_has_no_effect() -> None:
    reported = found_by_rule({TAINTED: excepting("open", "2026-11-29")}, OPEN)
    assert reported[TAINTED] == ["open"]
    assert line() == f"the exception of open from {TAINTED} expired on 2026-11-29."


def test_rules_on_the_stack_have_them_too() -> None:
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    assert OWNER not in found_by_rule({OWNER: excepting("gpu")}, *stack)
    assert OWNER in found_by_rule({OWNER: excepting("plugin")}, *stack)
    # What is of the whole stack has its name.
    assert CAP in found_by_rule({CAP: {"gpus": 0}}, pool())
    assert CAP not in found_by_rule({CAP: {"gpus": 0, **excepting("aks-gpu-dev")}}, pool())


def test_an_exception_covers_a_resource_that_cannot_be_judged() -> None:
    """A new pool with a size of another stack could not pass a review."""
    unknown = pool("gpu", vmSize=UNKNOWN_STRING_VALUE), daemon_set(TOLERATION)
    said = [text for _, rule, text in pack_says(RULES, *unknown, config={}) if rule == OWNER]
    assert [text.startswith(CANNOT_RUN) for text in said] == [True]
    assert OWNER not in found_by_rule({OWNER: excepting("gpu")}, *unknown)


OFF = {rule.name: "disabled" for rule in RULES}


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ({}, ""),
        # No report mentioned a configuration that switched everything off.
        (
            {TAINTED: "disabled", OWNER: "advisory", "host-encryption": "mandatory"},
            f"{TAINTED} is disabled, not advisory; {OWNER} is advisory, not mandatory.",
        ),
        # `all` was called a rule that the pack does not have, and 36 lines more said the same.
        ({"all": "disabled", **OFF}, "all rules are disabled."),
        # Pulumi ignores it silently.
        ({"gpu-pool-taintet": "mandatory"}, "no rule is called gpu-pool-taintet."),
    ],
)
def test_what_a_configuration_softens_is_one_line(levels: dict[str, str], says: str) -> None:
    *_, last = [("", "", ""), *pack_says(RULES, pool(), config={}, levels=levels)]
    assert "; ".join(sorted(line().rstrip(".").split("; "))) == says.rstrip(".")
    assert last == (("", LINE, f"The pack's configuration: {line()}") if says else ("", "", ""))


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
