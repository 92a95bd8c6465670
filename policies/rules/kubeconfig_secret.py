"""A kubeconfig with credentials is a secret, wherever it goes.

Any property is marked whose text is a kubeconfig with a key, a token or a password, as YAML or
JSON, also in base64, and so is the kubeconfig of a Kubernetes provider that is not known yet. A
kubeconfig in a ConfigMap or in a container's environment is refused even if it is a secret. A
template of one is marked, and not refused: credentials with `${`, `{{`, `<` or an ellipsis, or
without a digit, such as `REDACTED`.

Only remediations see which values are secret: at the levels `mandatory` and `advisory` the rule
marks nothing, and judges only ConfigMaps and environments. At no level does it see stack outputs,
results of functions, or the path of a file.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pulumi_policy import EnforcementLevel, ResourceValidationArgs, Secret, Severity
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from aks_catalogue.shapes import mapping, sequence
from policies.kubeconfig_text import has_credentials, has_usable_credentials
from policies.pods import containers_of, kind_of, pods_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns

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
    remedy="Put the kubeconfig in a Kubernetes Secret, and mark it as secret in the program: "
    "pulumi.Output.secret(...).",
    tags=("kubernetes", "security"),
    remediate=_remediate,
)
def kubeconfig_secret(args: ResourceValidationArgs, _: Settings, unknowns: Unknowns) -> Findings:
    for place in _places(args, unknowns):
        yield (
            f"{place} contains a kubeconfig with credentials: whoever can read it can access the "
            "cluster. Use a Kubernetes Secret."
        )


def _places(args: ResourceValidationArgs, unknowns: Unknowns) -> Iterator[str]:
    """Yields the places outside of Secrets that contain credentials."""
    if kind_of(args.resource_type) == "ConfigMap":
        for part in ("data", "binaryData"):
            data = mapping(args.props.get(part))
            for key in unknowns.each(data, partial(_with_credentials, data)):
                yield f"The ConfigMap's {part}, under {key},"
    for pods in pods_of(args.resource_type, args.props, unknowns):
        for container in containers_of(pods):
            variables = partial(_variables, container)
            yield from unknowns.each(range(len(sequence(container.get("env")))), variables)


def _variables(container: Mapping[str, Any], number: int) -> Iterator[str]:
    variable = mapping(sequence(container.get("env"))[number])
    if has_usable_credentials(variable.get("value")):
        yield f"The environment variable {variable.get('name')} of {container.get('name')}"


def _with_credentials(data: Mapping[str, Any], key: str) -> list[str]:
    return [key] * has_usable_credentials(data[key])
