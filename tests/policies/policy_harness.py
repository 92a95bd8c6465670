"""Hands resources over to a rule as the engine does, through pulumi_policy's own server.

So the rule meets numbers that have become floats, secrets that were unwrapped, values that are not
known yet, and, of a stack before its first update, outputs that say nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from google.protobuf import json_format
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from policies.sdk import Servicer

PACK = "pack"
CANNOT_RUN = "can't run"


def secret(value: Any) -> dict[str, Any]:
    return {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": value}


@dataclass(frozen=True, kw_only=True)
class Resource:
    type: str
    properties: Mapping[str, Any]
    name: str = "gpu"
    stack: str = "dev"
    protect: bool = False
    # The provider, as a resource of the stack by its name.
    provider: str = ""
    # Resources by their names, by the properties that are made of their outputs.
    made_of: Mapping[str, Iterable[str]] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    # What it is a part of, as a resource of the stack by its name.
    parent: str = ""

    @property
    def urn(self) -> str:
        return f"urn:pulumi:{self.stack}::aks-gpu::{self.type}::{self.name}"


def findings(rule: Policy, *resources: Resource, **config: Any) -> list[str]:
    """What the rule says of the resources, each by itself and then together."""
    return [message for _, message in findings_by_name(rule, *resources, **config)]


def findings_by_name(
    rule: Policy, *resources: Resource, config: Mapping[str, Any] | None = None
) -> list[tuple[str, str]]:
    """The same, with the name of the resource that a finding is of; the stack's have none."""
    server = _server(rule, config)
    found: list[tuple[str, str]] = []
    for resource in resources:
        answer = server.Analyze(_request(resource), None)
        found += [(resource.name, _text(rule, diagnostic)) for diagnostic in answer.diagnostics]
    together = proto.AnalyzeStackRequest(resources=[_member(one, resources) for one in resources])
    for diagnostic in server.AnalyzeStack(together, None).diagnostics:
        found.append((diagnostic.urn.rpartition("::")[2], _text(rule, diagnostic)))
    return found


def mention(messages: Sequence[str], expected: Sequence[Sequence[str]]) -> bool:
    """Whether there is a message for each of the expected, in their order, with all its words."""
    return len(messages) == len(expected) and all(
        word in message for message, words in zip(messages, expected, strict=True) for word in words
    )


def pack_says(
    rules: Iterable[Policy],
    *resources: Resource,
    config: Mapping[str, Mapping[str, Any]],
    levels: Mapping[str, str] = MappingProxyType({}),
) -> list[tuple[str, str, str]]:
    """All that a pack says of a stack, remediations included: the resource, the rule, and what."""
    server = Servicer(PACK, "1", list(rules), EnforcementLevel.MANDATORY)
    request = proto.ConfigureAnalyzerRequest()
    pack = {rule.name: rule.enforcement_level.value for rule in rules if rule.enforcement_level}
    for name, level in {**pack, **levels}.items():
        own = request.policyConfig[name]
        own.enforcementLevel = proto.EnforcementLevel.Value(level.upper())
        own.properties.update(config.get(name, {}))
    server.Configure(request, None)
    found = []
    for resource in resources:
        remedies = server.Remediate(_request(resource), None).remediations
        found += [
            (resource.name, diagnostic.policyName, diagnostic.diagnostic) for diagnostic in remedies
        ]
        answer = server.Analyze(_request(resource), None)
        found += [
            (resource.name, diagnostic.policyName, diagnostic.message)
            for diagnostic in answer.diagnostics
        ]
    together = proto.AnalyzeStackRequest(resources=[_member(one, resources) for one in resources])
    for diagnostic in server.AnalyzeStack(together, None).diagnostics:
        found.append(
            (diagnostic.urn.rpartition("::")[2], diagnostic.policyName, diagnostic.message)
        )
    return found


def remediated(rule: Policy, resource: Resource) -> dict[str, Any] | None:
    """What the rule makes of a resource's properties; None where it leaves them as they are."""
    answer = _server(rule, None).Remediate(_request(resource), None)
    made = [json_format.MessageToDict(diagnostic.properties) for diagnostic in answer.remediations]
    return made[0] if made else None


def _server(rule: Policy, config: Mapping[str, Any] | None) -> Any:
    server = Servicer(PACK, "1", [rule], EnforcementLevel.MANDATORY)
    is_off = rule.enforcement_level is EnforcementLevel.DISABLED
    if config is not None or is_off:
        request = proto.ConfigureAnalyzerRequest()
        own = request.policyConfig[rule.name]
        assert rule.enforcement_level is not None
        level = "ADVISORY" if is_off else f"{rule.enforcement_level.value}".upper()
        own.enforcementLevel = proto.EnforcementLevel.Value(level)
        own.properties.update(config or {})
        server.Configure(request, None)
    return server


def _request(resource: Resource) -> Any:
    request = proto.AnalyzeRequest(type=resource.type, urn=resource.urn, name=resource.name)
    request.properties.update(resource.properties)
    request.options.protect = resource.protect
    return request


def _member(resource: Resource, resources: Iterable[Resource]) -> Any:
    urns = {one.name: one.urn for one in resources}
    member = proto.AnalyzerResource(type=resource.type, urn=resource.urn, name=resource.name)
    member.properties.update(resource.outputs)
    member.options.protect = resource.protect
    if resource.parent:
        member.parent = urns[resource.parent]
    if resource.provider:
        member.provider.CopyFrom(
            proto.AnalyzerProviderResource(urn=urns[resource.provider], name=resource.provider)
        )
    for name, others in resource.made_of.items():
        member.propertyDependencies[name].urns.extend(urns[one] for one in others)
    return member


def _text(rule: Policy, diagnostic: Any) -> str:
    """A finding without the rule's description; of what could not run, why."""
    if diagnostic.message.startswith(CANNOT_RUN):
        assert diagnostic.enforcementLevel == proto.ADVISORY
        return f"{CANNOT_RUN}: {diagnostic.message.partition(' during preview: ')[2]}"
    description, _, text = diagnostic.message.partition("\n")
    assert description == rule.description
    return str(text)
