"""All rules together: what they say of themselves, what their page says, what they pass."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.proxy import UNKNOWN_ARRAY_VALUE, UNKNOWN_STRING_VALUE

from aks_catalogue.address import REPOSITORY
from policies.rules import RULES
from tests.bench import ROOT
from tests.policies.policy_harness import CANNOT_RUN, Resource, findings, pack_says
from tests.policies.pool_variants import (
    AGENT_POOL,
    CLUSTER,
    CPU,
    FORMS,
    VALID,
    Form,
    every_form,
)

PAGE = (ROOT / "docs" / "policies.md").read_text()
# A setting that makes each rule look that is silent without one.
SETTINGS: dict[str, dict[str, Any]] = {
    "allowed-gpu-sizes": {"sizes": ["Standard_NC8as_T4_v3"]},
    "gpu-count-cap": {"gpus": 2},
}
# The levels of the rules that are off until they have one.
ON = {
    rule.name: "advisory" for rule in RULES if rule.enforcement_level is EnforcementLevel.DISABLED
}
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


@every_rule
def test_rules_have_descriptions(rule: Policy) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    for text in (rule.description, rule.remediation_steps):
        assert text
        assert re.fullmatch(r"[A-Z].*[.)]", text)
    assert rule.display_name
    assert rule.severity
    assert rule.enforcement_level
    assert rule.tags
    assert rule.url == f"https://{REPOSITORY}/blob/main/docs/reference/rules.md#{rule.name}"
    assert rule.config_schema
    assert rule.config_schema.properties["reason"]["type"] == "string"


# The page.


def test_the_example_of_a_configuration_can_be_used() -> None:
    example = re.search(r"(?s)```json\n(.+?)```", PAGE)
    assert example
    rules = {rule.name: rule for rule in RULES}
    for name, said in json.loads(example[1]).items():
        schema = rules[name].config_schema
        assert schema
        settings = {} if isinstance(said, str) else said
        assert settings.keys() <= schema.properties.keys() | {"enforcementLevel"}


# What they pass.


@every_form(FORMS)
def test_valid_pools_pass(form: Form) -> None:
    pool = {"vmSize": CPU, "mode": "System"} if form.inline else VALID
    resource = form.resource(pool, stack="prod", protect=True)
    assert pack_says(RULES, resource, config=SETTINGS) == []


@every_rule
def test_take_no_notice_of_other_resources(rule: Policy) -> None:
    unknown = dict.fromkeys([*VALID, "data", "spec"], UNKNOWN_STRING_VALUE)
    others = [
        Resource(type=kind, properties=unknown)
        for kind in (
            "azure-native:compute:VirtualMachine",
            "azure-native:containerservice:AgentPoolSnapshot",
            "azure:containerservice/registry:Registry",
            "aks-gpu:components:GpuNodePool",
            "kubernetes:core/v1:Service",
        )
    ]
    assert findings(rule, *others, config=SETTINGS.get(rule.name)) == []


@pytest.mark.parametrize("form", [AGENT_POOL, CLUSTER], ids=["pool", "cluster"])
@every_rule
def test_unknown_values_cause_no_findings(rule: Policy, form: Form) -> None:
    names = [
        *VALID, "nodeLabels", "customHeaders", "kubernetesVersion", "scaleSetPriority",
        "gpuInstanceProfile", "apiServerAccessProfile",
    ]  # fmt: skip
    unknown: dict[str, str] = dict.fromkeys(names, UNKNOWN_STRING_VALUE)
    if form.inline:
        unknown[form.inline] = UNKNOWN_ARRAY_VALUE

    found = findings(
        rule, Resource(type=form.type, properties=unknown), config=SETTINGS.get(rule.name)
    )

    assert len(found) <= 1
    assert all(text.startswith(f"{CANNOT_RUN}: ") for text in found)


@every_rule
def test_unknown_settings_are_reported(rule: Policy) -> None:
    stack = Resource(type="pulumi:pulumi:Stack", properties={}, name="stack")
    assert rule.config_schema
    known = ", ".join(rule.config_schema.properties)
    wrong = findings(rule, stack, AGENT_POOL.resource(VALID), config={"floors": 1})
    assert f"The rule has no setting floors: use one of {known}." in wrong
    assert findings(rule, stack, config={"reason": "a test"}) == []


def test_the_pack_needs_nothing_but_pulumi_policy_and_the_catalogue() -> None:
    """Also not through what it imports: it is put into folders of its own."""
    program = (
        "import sys, pulumi_policy; before = set(sys.modules); import policies.rules; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    known = {"policies", "aks_pools", "aks_catalogue", "yaml", *sys.stdlib_module_names}
    others = set(said.stdout.split()) - known
    assert others == set()
