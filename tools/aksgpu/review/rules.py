"""Facts about the pack's rules that the engine's events do not have."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from policies.rules import RULES

_PACK = "aks-gpu-policies"


@dataclass(frozen=True, kw_only=True)
class RuleFacts:
    severity: str = ""
    description: str = ""
    remedy: str = ""
    url: str = ""
    # What the pack's configuration can set for it, except its level and reason.
    settings: tuple[str, ...] = ()


def facts_of(rule: str, pack: str) -> RuleFacts:
    """The facts about a rule; empty for rules of other packs."""
    return _RULES[rule] if pack == _PACK and rule in _RULES else RuleFacts()


def _facts(rule: Any) -> RuleFacts:
    return RuleFacts(
        severity=str(getattr(rule.severity, "value", rule.severity) or "").lower(),
        description=rule.description or "",
        remedy=rule.remediation_steps or "",
        url=rule.url or "",
        settings=tuple(name for name in rule.config_schema.properties if name != "reason"),
    )


_RULES: Mapping[str, RuleFacts] = MappingProxyType({rule.name: _facts(rule) for rule in RULES})
