"""Exceptions by resource, and what the pack reports about its configuration."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi_policy import EnforcementLevel
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue.today import TODAY_VARIABLE
from policies.exceptions import RuleException
from policies.rules import RULES
from tests.policies.gpu_stacks import SPECIALIZED, TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, pack_says

TAINTED, OWNER, REPORTING = "gpu-pool-tainted", "one-gpu-stack-owner", "pack-configuration"
STACK = Resource(type="pulumi:pulumi:Stack", name="aks-gpu-dev", properties={})


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2026-11-30")


def excepting(resource: str, until: str = "2026-11-30") -> dict[str, Any]:
    return {"exceptions": [{"resource": resource, "reason": "being moved", "until": until}]}


def findings_by_rule(
    config: dict[str, Any], *resources: Resource, **levels: str
) -> dict[str, list[str]]:
    """Returns resource names by rule; for the reporting rule, its messages."""
    reported: dict[str, list[str]] = {}
    by_rule = {name.replace("_", "-"): level for name, level in levels.items()}
    for name, rule, message in pack_says(RULES, STACK, *resources, config=config, levels=by_rule):
        text = message.partition("\n")[2] if rule == REPORTING else name
        reported.setdefault(rule, []).append(text or message)
    return reported


OPEN = pool("open", nodeTaints=[])
EXCEPTED = f"{TAINTED} excepts open until 2026-11-30: being moved"


@pytest.mark.parametrize("resource", ["open", "op*", OPEN.urn, "urn:*::open"])
def test_a_resource_is_excepted_by_name_pattern_or_urn(resource: str) -> None:
    """Without exceptions, one special pool had the rule switched off for the whole stack."""
    reported = findings_by_rule({TAINTED: excepting(resource)}, OPEN, pool("other", nodeTaints=[]))
    assert reported[TAINTED] == ["other"]
    assert reported[REPORTING] == [EXCEPTED]


LETTERS = st.text(st.sampled_from("ab[]?!-.\\^$(){}|+\n:"), max_size=5)


@settings(max_examples=200, deadline=None)
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
    reported = findings_by_rule({TAINTED: excepting("open", "2026-11-29")}, OPEN)
    assert reported[TAINTED] == ["open"]
    (text,) = reported[REPORTING]
    assert text == (
        f"The exception of open from {TAINTED} expired on 2026-11-29: remove it. "
        "Its reason was: being moved"
    )


def test_rules_on_the_stack_have_them_too() -> None:
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    assert findings_by_rule({}, *stack)[OWNER] == ["gpu"]
    assert OWNER not in findings_by_rule({OWNER: excepting("gpu")}, *stack)
    assert OWNER in findings_by_rule({OWNER: excepting("plugin")}, *stack)


def test_a_cap_on_the_stack_is_excepted_by_the_name_of_the_stack() -> None:
    cap: dict[str, Any] = {"gpus": 0}
    assert "gpu-count-cap" in findings_by_rule({"gpu-count-cap": cap}, pool())
    excepted = cap | excepting("aks-gpu-dev")
    assert "gpu-count-cap" not in findings_by_rule({"gpu-count-cap": excepted}, pool())


def test_an_exception_covers_a_resource_that_cannot_be_judged() -> None:
    """Two new clusters with the usual call for credentials could not pass a review."""
    cluster = "azure-native:containerservice:ManagedCluster"
    provider = Resource(
        type="pulumi:providers:kubernetes",
        name="provider",
        properties={"kubeconfig": UNKNOWN_STRING_VALUE},
    )
    stack = (
        *(Resource(type=cluster, name=name, properties={}) for name in ("a", "b")),
        Resource(type=pool().type, properties=pool().properties, made_of={"resourceName": ["a"]}),
        provider,
        Resource(
            type="kubernetes:apps/v1:DaemonSet",
            name="plugin",
            properties=daemon_set(TOLERATION).properties,
            provider="provider",
        ),
    )
    messages = [text for _, rule, text in pack_says(RULES, *stack, config={}) if rule == OWNER]
    assert all(text.startswith(CANNOT_RUN) for text in messages)
    assert messages
    assert OWNER not in findings_by_rule({OWNER: excepting("provider")}, *stack)


def test_lowered_and_switched_off_rules_are_reported() -> None:
    """No report mentioned a configuration that switched everything off."""
    config = {TAINTED: {"reason": "only for GPUs"}}
    reported = findings_by_rule(
        config,
        OPEN,
        gpu_pool_tainted="disabled",
        one_gpu_stack_owner="advisory",
        host_encryption="mandatory",
    )
    assert TAINTED not in reported
    assert sorted(reported[REPORTING]) == [
        f"{TAINTED} is switched off: only for GPUs",
        f"{OWNER} is advisory instead of mandatory.",
    ]


def test_changed_settings_are_reported() -> None:
    """An accepted size passes a mandatory rule, and no report mentioned it."""
    sizes = {"acceptedSizes": ["Standard_NC4as_T4_v3"], "floor": "Standard_NC12"}
    config: dict[str, Any] = {
        "gpu-pool-minimum-size": sizes | {"reason": "a trial"},
        "gpu-size-unknown": {"acceptedSizes": []},
        "gpu-count-cap": {"gpus": 8},
    }
    assert findings_by_rule(config, pool())[REPORTING] == [
        'gpu-pool-minimum-size has acceptedSizes ["Standard_NC4as_T4_v3"] and floor '
        '"Standard_NC12" instead of [] and "Standard_NC6": a trial'
    ]


def test_the_reporting_rule_cannot_be_switched_off() -> None:
    """`all: disabled` switched it off, and nothing reported that."""
    off = {rule.name: "disabled" for rule in RULES}
    reported = findings_by_rule({}, OPEN, **off)
    assert [*reported] == [REPORTING]
    assert f"{OWNER} is switched off." in reported[REPORTING]
    were_on = [rule for rule in RULES if rule.enforcement_level is not EnforcementLevel.DISABLED]
    assert len(reported[REPORTING]) == len(were_on)


def test_all_rules_that_are_switched_off_together_are_told_once() -> None:
    """`all` was called a rule that the pack does not have, and 36 lines more said the same."""
    off = {rule.name: "disabled" for rule in RULES}
    reported = findings_by_rule({}, OPEN, all="disabled", **off)
    assert reported == {REPORTING: ["All rules are switched off."]}


def test_the_reporting_rule_takes_no_exceptions() -> None:
    """With an exception, it reported nothing that the configuration lets through."""
    reported = findings_by_rule(
        {TAINTED: excepting("*"), REPORTING: excepting("*")}, OPEN, kubeconfig_secret="disabled"
    )
    assert TAINTED not in reported
    assert sorted(reported[REPORTING]) == [
        "The rule has no setting exceptions: use one of reason.",
        f"{TAINTED} excepts open until 2026-11-30: being moved",
        "kubeconfig-secret is switched off.",
    ]


@pytest.mark.parametrize("day", ["tomorrow", "2026-02-30", "٢٠٢٦-11-30", "30.11.2026"])
def test_no_exception_is_in_effect_on_an_unknown_date(
    monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    """With an exception, an invalid date ended the pack."""
    monkeypatch.setenv(TODAY_VARIABLE, day)
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    reported = findings_by_rule(
        {TAINTED: excepting("*", "9999-12-31"), OWNER: excepting("*")}, OPEN, *stack
    )
    assert "open" in reported[TAINTED]
    assert reported[OWNER] == ["gpu"]
    assert [text for text in reported[REPORTING] if "exception" in text] == [
        f"{TODAY_VARIABLE} is {day!r}: set a date, such as 2026-11-30. "
        "Until then, no exception is in effect."
    ]


def test_a_rule_that_does_not_exist_is_reported() -> None:
    """Pulumi ignores it silently."""
    reported = findings_by_rule({}, **{"gpu-pool-taintet": "mandatory"})
    assert reported[REPORTING] == [
        "The pack has no rule gpu-pool-taintet: did you mean gpu-pool-tainted?"
    ]


def test_nothing_is_reported_without_a_configuration() -> None:
    assert findings_by_rule({}, pool()) == {}
