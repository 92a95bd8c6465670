"""The page of aks-preview's properties and settings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from aks_catalogue import headers
from aks_preview.aks_types import AKS_TYPES, HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.configuration import SETTINGS
from aks_preview.features import FEATURE_INPUTS, FEATURE_REPLACES
from rehearsal.offline_plug_ins.azure_native.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape
from reference.markdown import Row, code, sections, table

_INTRODUCTION = """\
[The provider aks-preview](../aks-preview.md) has three resources. "Replaces" means that a change of
the property deletes the resource and creates it again."""
_UPDATES = "updates"
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
        *(_resource(known.name, _properties(known)) for known in AKS_TYPES.values()),
        _resource("FeatureRegistration", _feature()),
        _CUSTOM_HEADERS.format(
            day=headers.AS_OF,
            table=table(("header", "asks for", "state", "source"), _headers()),
        ),
        f"## Settings\n\n{table(('setting', 'environment', 'meaning'), _settings())}",
    )


def _resource(name: str, properties: Iterable[Row]) -> str:
    by_effect = defaultdict[str, list[str]](list)
    for name_of_property, kind, effect in properties:
        by_effect[effect].append(f"{name_of_property} ({kind})")
    effects = (f"- {effect}: {', '.join(named)}" for effect, named in by_effect.items())
    return "\n".join([f"## {name}\n", *effects])


def kind_of(shape: Shape) -> str:
    """What the page calls a shape."""
    match shape:
        case Scalar(kind=kind):
            return kind
        case ListOf(item):
            return f"list of {kind_of(item)}"
        case MapOf(value):
            return f"map of {kind_of(value)}"
        case ObjectOf(name=name):
            return name
        case Anything():
            return "anything"


def _properties(aks_type: AksType) -> Iterator[Row]:
    for name, shape in sorted(aks_type.inputs.fields.items()):
        required = ", required" if name in aks_type.inputs.required else ""
        yield code(name), f"{kind_of(shape)}{required}", _effect(aks_type, name)


def _effect(aks_type: AksType, name: str) -> str:
    if name == REPLACE_ON_HEADERS:
        return "nothing: it decides what a change of the headers does"
    if name == HEADERS:
        asked = f"; with `{REPLACE_ON_HEADERS}` **replaces**"
        return _UPDATES + (asked if REPLACE_ON_HEADERS in aks_type.ours else "")
    if name in aks_type.replaces:
        return f"**replaces** ({aks_type.replaces[name]})"
    parts = [path for path in aks_type.replaces if path.startswith(f"{name}.")]
    return "; ".join(
        [_UPDATES, *(f"`{path}` **replaces** ({aks_type.replaces[path]})" for path in parts)]
    )


def _headers() -> Iterator[Row]:
    for row in headers.HEADERS.values():
        retired = f"retired on {row.retired_on}: {row.instead}"
        yield code(row.name), row.asks_for, retired if row.retired_on else "in use", row.source


def _feature() -> Iterator[Row]:
    for name, shape in sorted(FEATURE_INPUTS.fields.items()):
        required = ", required" if name in FEATURE_INPUTS.required else ""
        replaces = FEATURE_REPLACES.get(name)
        yield (
            code(name),
            f"{kind_of(shape)}{required}",
            f"**replaces** ({replaces})" if replaces else _UPDATES,
        )


def _settings() -> Iterator[Row]:
    for name, setting in SETTINGS.items():
        variables = ", ".join(map(code, setting.variables)) or "none"
        default = f" Default: `{setting.default}`." if setting.default else ""
        secret = " A secret." if setting.is_secret else ""
        yield code(name), variables, f"{setting.description}{secret}{default}"
