"""The schemas of the packages as the last version has them: programs are written for these.

`python -m tests.released` records them, in the commit of a new version. That of aks-gpu is newer
than 0.1.0, which did not have the package.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aks_preview.schema
import components.package.schema

_FOLDER = Path(__file__).with_name("released_schemas")
# How each package makes its schema.
PACKAGES: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {
        "aks-gpu": components.package.schema.schema,
        "aks-preview": lambda: json.loads(aks_preview.schema.schema()),
    }
)


def released(name: str) -> dict[str, Any]:
    """Returns the recorded schema of a package."""
    schema: dict[str, Any] = json.loads(_file(name).read_text(encoding="utf-8"))
    return schema


def record() -> None:
    """Records the schemas as they are now."""
    for name, schema in PACKAGES.items():
        text = json.dumps(schema(), indent=2, sort_keys=True)
        _file(name).write_text(f"{text}\n", encoding="utf-8")


def _file(name: str) -> Path:
    return _FOLDER / f"{name}.json"


if __name__ == "__main__":
    record()
