"""What is spared, and that nothing else is different by it."""

from typing import Any

import pytest
from google.protobuf import json_format
from pulumi_policy import PolicyResource, StackValidationArgs, StackValidationPolicy
from pulumi_policy import policy as sdk

from policies.rules import RULES
from policies.sdk import extend
from tests.policies.policy_harness import Resource, pack_says

POOL: dict[str, Any] = {"vmSize": "Standard_NC6", "osType": "Windows", "nodeTaints": []}
KIND = "azure-native:containerservice:AgentPool"


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Converts once, for this test; the messages that were converted."""
    told: list[int] = []

    def convert(message: Any) -> Any:
        told.append(id(message))
        return json_format.MessageToDict(message)

    kept = {**vars(json_format), "MessageToDict": convert}
    monkeypatch.setattr(sdk, "json_format", type("json_format", (), kept))
    for name in ("deserialize_properties", "unknown_checking_proxy", "_PolicyAnalyzerServicer"):
        monkeypatch.setattr(sdk, name, getattr(sdk, name))
    extend()
    return told


def test_each_resource_is_converted_once_for_all_rules(conversions: list[int]) -> None:
    """Nine rules on stacks had each resource converted nine times."""
    pools = [Resource(type=KIND, properties=POOL, name=f"p{n}") for n in range(30)]

    said = {rule for _, rule, _ in pack_says(RULES, *pools, config={})}

    assert {"gpu-pool-linux-only", "gpu-size-retired", "gpu-pool-tainted"} <= said
    # Remediated, analysed, and as one of the stack; and the configuration of a rule.
    assert len(conversions) <= 4 * len(pools) + len(RULES)


def test_inputs_without_properties_are_inputs(conversions: list[int]) -> None:
    """A rule on the stack read the outputs in their place, which can have what nobody asked for."""
    rule: Any = next(rule for rule in RULES if isinstance(rule, StackValidationPolicy))
    bare = Resource(type=KIND, properties={}, name="bare")
    pack_says(RULES, bare, config={})
    seen: list[Any] = []

    def judge(members: Any, *_: Any) -> Any:
        seen.extend(dict(member.properties) for member in members)
        return iter(())

    options: Any = None
    resource = PolicyResource(KIND, POOL, bare.urn, "bare", options, None, None, [], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "_judge", judge)
        rule.validate(StackValidationArgs([resource], {}), lambda *_: None)
    assert seen == [{}]
