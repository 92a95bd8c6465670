"""The page of aks-preview's properties and settings."""

from collections.abc import Iterator

from aks_catalogue import headers
from aks_preview.aks_types import AGENT_POOL, AKS_TYPES, HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.configuration import SETTINGS
from aks_preview.features import FEATURE, NAMESPACE, UNREGISTER
from reference.markdown import Row, code, sections, table

_INTRODUCTION = """\
[The provider aks-preview](../aks-preview.md) has three resources. A pool and a cluster have the
properties of azure-native's `AgentPool` and `ManagedCluster` by the same names, those that newer
versions of the API add, and the `customHeaders` of their requests, a map. A change of a property
updates the resource, unless it is in a table: then it deletes the resource and creates it again."""
_FEATURE = f"""\
## FeatureRegistration

`{NAMESPACE}` and `{FEATURE}` name the feature, and another name replaces the registration.
`{UNREGISTER}`, a boolean, decides what deleting it does."""
_HEADERS_OF_POOLS = f"""\
`{REPLACE_ON_HEADERS}`, a boolean, makes each change of `{HEADERS}` replace the pool."""
_CUSTOM_HEADERS = """\
## Custom headers

Those that AKS has or had, as of {day}. Stack files, components and the rule
[gpu-image-retired](rules.md#gpu-image-retired) warn of retired ones. AKS takes a feature in
`AKSHTTPCustomFeatures` only from a subscription that has it, as far as is known; many are for
Microsoft's own tests.

{table}"""


def page() -> str:
    return sections(
        "aks-preview: resources and settings",
        _INTRODUCTION,
        *(_resource(known) for known in AKS_TYPES.values()),
        _FEATURE,
        _CUSTOM_HEADERS.format(
            day=headers.AS_OF,
            table=table(("header", "asks for", "state", "source"), _headers()),
        ),
        f"## Settings\n\n{table(('setting', 'environment', 'meaning'), _settings())}",
    )


def _resource(known: AksType) -> str:
    fixed = {**dict.fromkeys(known.path_names, "names the resource"), **known.known.fixed}
    rows = ((code(path), reason) for path, reason in fixed.items())
    more = f"\n\n{_HEADERS_OF_POOLS}" if known is AGENT_POOL else ""
    return f"## {known.name}\n\n{table(('replaces', 'because'), rows)}{more}"


def _headers() -> Iterator[Row]:
    for row in headers.HEADERS.values():
        retired = f"retired on {row.retired_on}: {row.instead}"
        yield code(row.name), row.asks_for, retired if row.retired_on else "in use", row.source


def _settings() -> Iterator[Row]:
    for name, setting in SETTINGS.items():
        variables = ", ".join(map(code, setting.variables)) or "none"
        default = f" Default: `{setting.default}`." if setting.default else ""
        secret = " A secret." if setting.is_secret else ""
        yield code(name), variables, f"{setting.description}{secret}{default}"
