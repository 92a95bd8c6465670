"""A kubeconfig with credentials is a secret, wherever it goes.

Any property is marked whose text is a kubeconfig with a key, a token or a password, as YAML or
JSON, also in base64, and so is the kubeconfig of a Kubernetes provider that is not known yet. The
template of one is marked too: that harms nobody.

Only remediations see which values are secret: at the levels `mandatory` and `advisory` the rule
does nothing. At no level does it see stack outputs, results of functions, or the path of a file.
"""

from collections.abc import Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Secret, Severity
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.kubeconfig_text import has_credentials
from policies.rule import Findings, ResourceRule

_PROVIDER = "pulumi:providers:kubernetes"


async def _remediate(args: ResourceValidationArgs) -> Mapping[str, Any]:
    """Returns the properties with all kubeconfigs marked as secret; empty if none has to be."""
    properties = _unproxied(args.props)
    sealed = {name: _sealed(value) for name, value in properties.items()}
    if args.resource_type == _PROVIDER and properties.get("kubeconfig") == UNKNOWN_STRING_VALUE:
        sealed["kubeconfig"] = Secret(UNKNOWN_STRING_VALUE)
    return {} if all(sealed[name] is properties[name] for name in properties) else sealed


def _sealed(value: Any) -> Any:
    """Returns a value with kubeconfigs marked as secret; the same object if there are none."""
    if isinstance(value, Mapping):
        parts = _unproxied(value)
        marked = {name: _sealed(part) for name, part in parts.items()}
        return value if all(marked[name] is parts[name] for name in parts) else marked
    if isinstance(value, list):
        items = [_sealed(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return Secret(value) if has_credentials(value) else value


def _unproxied(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the mapping below the SDK's proxy, which hides whether values are secret."""
    below: Mapping[str, Any] = (
        properties if isinstance(properties, dict) else properties["__target"]
    )
    return below


@ResourceRule(
    level=EnforcementLevel.REMEDIATE,
    severity=Severity.CRITICAL,
    remedy="Mark the kubeconfig as secret in the program: pulumi.Output.secret(...).",
    tags=("kubernetes", "security"),
    remediate=_remediate,
)
def kubeconfig_secret(*_: object) -> Findings:
    return iter(())
