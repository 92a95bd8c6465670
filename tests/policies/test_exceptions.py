"""Exceptions by resource, and what the pack tells of its configuration."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from catalogue.today import TODAY_VARIABLE
from policies.exceptions import RuleException
from policies.rules import RULES
from tests.policies.gpu_stacks import SPECIALIZED, TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, pack_says

TAINTED, OWNER, TOLD = "gpu-pool-tainted", "one-gpu-stack-owner", "pack-configuration"
STACK = Resource(type="pulumi:pulumi:Stack", name="aks-gpu-dev", properties={})


@pytest.fixture(autouse=True)
def _today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TODAY_VARIABLE, "2026-11-30")


def excepting(resource: str, until: str = "2026-11-30") -> dict[str, Any]:
    return {"exceptions": [{"resource": resource, "reason": "being moved", "until": until}]}


def said(config: dict[str, Any], *resources: Resource, **levels: str) -> dict[str, list[str]]:
    """What the pack says, by rule: the names of resources, and of its configuration the texts."""
    told: dict[str, list[str]] = {}
    by_rule = {name.replace("_", "-"): level for name, level in levels.items()}
    for name, rule, message in pack_says(RULES, STACK, *resources, config=config, levels=by_rule):
        text = message.partition("\n")[2] if rule == TOLD else name
        told.setdefault(rule, []).append(text or message)
    return told


OPEN = pool("open", nodeTaints=[])
EXCEPTED = f"{TAINTED} excepts open until 2026-11-30: being moved"


@pytest.mark.parametrize("resource", ["open", "op*", OPEN.urn, "urn:*::open"])
def test_a_resource_is_excepted_by_name_pattern_or_urn(resource: str) -> None:
    """One pool that is different had the rule switched off for the whole stack."""
    told = said({TAINTED: excepting(resource)}, OPEN, pool("other", nodeTaints=[]))
    assert told[TAINTED] == ["other"]
    assert told[TOLD] == [EXCEPTED]


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


def test_an_exception_that_has_expired_is_told_and_does_not_count() -> None:
    told = said({TAINTED: excepting("open", "2026-11-29")}, OPEN)
    assert told[TAINTED] == ["open"]
    (text,) = told[TOLD]
    assert text == (
        f"The exception of open from {TAINTED} expired on 2026-11-29. Remove it: being moved"
    )


def test_rules_on_the_stack_have_them_too() -> None:
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    assert said({}, *stack)[OWNER] == ["gpu"]
    assert OWNER not in said({OWNER: excepting("gpu")}, *stack)
    assert OWNER in said({OWNER: excepting("plugin")}, *stack)


def test_a_cap_on_the_stack_is_excepted_by_the_name_of_the_stack() -> None:
    cap: dict[str, Any] = {"gpus": 0}
    assert "gpu-count-cap" in said({"gpu-count-cap": cap}, pool())
    excepted = cap | excepting("aks-gpu-dev")
    assert "gpu-count-cap" not in said({"gpu-count-cap": excepted}, pool())


def test_what_cannot_be_judged_can_be_accepted() -> None:
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
    assert OWNER not in said({OWNER: excepting("provider")}, *stack)


def test_what_is_lowered_and_switched_off_is_told() -> None:
    """A configuration that switched everything off was mentioned in no report."""
    config = {TAINTED: {"reason": "for GPUs alone"}}
    told = said(config, OPEN, gpu_pool_tainted="disabled", one_gpu_stack_owner="advisory",
        host_encryption="mandatory")  # fmt: skip
    assert TAINTED not in told
    assert sorted(told[TOLD]) == [
        f"{TAINTED} is switched off: for GPUs alone",
        f"{OWNER} is advisory instead of mandatory.",
    ]


def test_settings_of_its_own_are_told() -> None:
    """A size that is accepted passes a mandatory rule, and no report said so."""
    sizes = {"acceptedSizes": ["Standard_NC4as_T4_v3"], "floor": "Standard_NC12"}
    config: dict[str, Any] = {
        "gpu-pool-minimum-size": sizes | {"reason": "a trial"},
        "gpu-size-unknown": {"acceptedSizes": []},
        "gpu-count-cap": {"gpus": 8},
    }
    assert said(config, pool())[TOLD] == [
        'gpu-pool-minimum-size has acceptedSizes ["Standard_NC4as_T4_v3"] and floor '
        '"Standard_NC12" instead of [] and "Standard_NC6": a trial'
    ]


def test_what_tells_is_not_switched_off_with_the_rest() -> None:
    """Everything was, in one word, and no report said so."""
    told = said({}, OPEN, **{rule.name: "disabled" for rule in RULES})
    assert [*told] == [TOLD]
    assert f"{OWNER} is switched off." in told[TOLD]
    assert len(told[TOLD]) == len(RULES)


def test_what_tells_of_exceptions_has_none() -> None:
    """With one of its own the pack told of nothing at all that its configuration let through."""
    told = said({TAINTED: excepting("*"), TOLD: excepting("*")}, OPEN, kubeconfig_secret="disabled")
    assert TAINTED not in told
    assert sorted(told[TOLD]) == [
        "The rule has no setting exceptions: it has reason.",
        f"{TAINTED} excepts open until 2026-11-30: being moved",
        "kubeconfig-secret is switched off.",
    ]


@pytest.mark.parametrize("day", ["tomorrow", "2026-02-30", "٢٠٢٦-11-30", "30.11.2026"])
def test_no_exception_counts_on_a_day_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    """A mistake in the variable ended the pack, where there was an exception."""
    monkeypatch.setenv(TODAY_VARIABLE, day)
    stack = together(pool(**SPECIALIZED), daemon_set(TOLERATION))
    told = said({TAINTED: excepting("*", "9999-12-31"), OWNER: excepting("*")}, OPEN, *stack)
    assert "open" in told[TAINTED]
    assert told[OWNER] == ["gpu"]
    assert [text for text in told[TOLD] if "exception" in text] == [
        f"{TODAY_VARIABLE} is {day!r}: set a day, such as 2026-11-30. "
        "Without it no exception counts."
    ]


def test_a_rule_that_there_is_not_is_told() -> None:
    """Pulumi passes it over in silence."""
    told = said({}, **{"gpu-pool-taintet": "mandatory"})
    assert told[TOLD] == ["The pack has no rule gpu-pool-taintet: did you mean gpu-pool-tainted?"]


def test_without_a_configuration_nothing_is_told() -> None:
    assert said({}, pool()) == {}
