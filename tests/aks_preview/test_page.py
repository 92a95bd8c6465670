"""The provider's page says of every property what the tables of the code say."""

from collections.abc import Iterator

import pytest

from aks_preview.aks_types import AKS_TYPES, HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.configuration import SETTINGS
from aks_preview.features import FEATURE_INPUTS, FEATURE_REPLACES
from tests.bench import ROOT
from tests.shapes import kind_of

PAGE = ROOT / "docs" / "aks-preview.md"


def rows(aks_type: AksType) -> Iterator[str]:
    yield "| property | kind | a change |"
    yield "|---|---|---|"
    for name, shape in sorted(aks_type.inputs.fields.items()):
        required = ", required" if name in aks_type.inputs.required else ""
        yield f"| `{name}` | {kind_of(shape)}{required} | {effect(aks_type, name)} |"


def effect(aks_type: AksType, name: str) -> str:
    if name == REPLACE_ON_HEADERS:
        return "nothing: it says how other changes are made"
    if name == HEADERS:
        asked = f"; with `{REPLACE_ON_HEADERS}` **replaces**"
        return "updates" + (asked if REPLACE_ON_HEADERS in aks_type.own else "")
    if name in aks_type.replaces:
        return f"**replaces**: {aks_type.replaces[name]}"
    parts = [path for path in aks_type.replaces if path.startswith(f"{name}.")]
    if parts:
        return "updates; " + "; ".join(
            f"`{path}` **replaces**: {aks_type.replaces[path]}" for path in parts
        )
    return "updates"


def feature_rows() -> Iterator[str]:
    yield "| property | kind | a change |"
    yield "|---|---|---|"
    for name, shape in sorted(FEATURE_INPUTS.fields.items()):
        required = ", required" if name in FEATURE_INPUTS.required else ""
        does = f"**replaces**: {FEATURE_REPLACES[name]}" if name in FEATURE_REPLACES else "updates"
        yield f"| `{name}` | {kind_of(shape)}{required} | {does} |"


def setting_rows() -> Iterator[str]:
    yield "| setting | environment | meaning |"
    yield "|---|---|---|"
    for name, setting in SETTINGS.items():
        variables = ", ".join(f"`{variable}`" for variable in setting.variables) or "none"
        default = f" Default: `{setting.default}`." if setting.default else ""
        secret = " A secret." if setting.is_secret else ""
        yield f"| `{name}` | {variables} | {setting.description}{secret}{default} |"


TABLES = {
    **{known.name: "\n".join(rows(known)) for known in AKS_TYPES.values()},
    "FeatureRegistration": "\n".join(feature_rows()),
    "settings": "\n".join(setting_rows()),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_the_table(name: str) -> None:
    assert TABLES[name] in PAGE.read_text(encoding="utf-8")
