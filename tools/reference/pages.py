"""The pages, by file name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from reference import aks_preview, commands, components, rules, stack_file, support

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "aks-preview.md": aks_preview.page,
        "commands.md": commands.page,
        "components.md": components.page,
        "rules.md": rules.page,
        "stack-file.md": stack_file.page,
        "support.md": support.page,
    }
)
