"""The project file, Pulumi.yaml: where stack files are, and the types of their values."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path
from stack_settings import PROJECT
from stack_settings.section import WORDS
from stack_settings.yaml_text import NoYamlError, decoded, read_yaml


@dataclass(frozen=True)
class ProjectFile:
    """A project file; empty if it does not exist or cannot be read."""

    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder_of_stacks(self) -> str:
        """The folder of the stack files, relative to the project file."""
        # Older projects have `config: FOLDER`.
        folder = self.content.get("stackConfigDir") or self.content.get("config")
        return folder if isinstance(folder, str) else "."

    @property
    def runtime(self) -> Any:
        """What runs the program: a language, with options."""
        runtime = self.content.get("runtime")
        return {"name": runtime} if isinstance(runtime, str) else runtime

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of keys that a stack file leaves out."""
        values = {}
        for key, declared in self._declared.items():
            value = declared.get("value", declared.get("default"))
            if value is not None:
                values[key if ":" in key else f"{PROJECT}:{key}"] = value
        return values

    def mistakes(self, key: str, value: Any) -> Iterator[Mistake]:
        """Yields the mistakes of a value whose type is not that of its key."""
        declaration = self._declaration(key)
        if "type" in declaration:
            # Pulumi keeps scalars and encrypted values as strings.
            stored = value if isinstance(value, list | dict) else _as_text(value)
            if isinstance(value, dict) and [*value] == ["secure"]:
                stored = self.stand_in(key)
            yield from _mistakes(key, declaration, stored)

    def stand_in(self, key: str) -> str:
        """A placeholder for an encrypted value, of the type that the key has."""
        return _STAND_INS.get(str(self._declaration(key).get("type")), "secret")

    def _declaration(self, key: str) -> Mapping[str, Any]:
        return self._declared.get(f"{PROJECT}:{key}", self._declared.get(key, {}))

    @property
    def _declared(self) -> dict[str, Mapping[str, Any]]:
        config = self.content.get("config")
        return {
            key: value if isinstance(value, Mapping) else {"default": value}
            for key, value in (config.items() if isinstance(config, Mapping) else ())
        }


def read_project(folder: Path) -> ProjectFile:
    """Returns the project file in a folder."""
    try:
        return project_in((folder / "Pulumi.yaml").read_bytes())
    except OSError:
        return ProjectFile()


def project_in(content: bytes) -> ProjectFile:
    """Returns the project file with this content."""
    try:
        value = read_yaml(decoded(content)).value
    except NoYamlError:
        return ProjectFile()
    return ProjectFile(value if isinstance(value, dict) else {})


# By type, placeholders for encrypted values.
_STAND_INS = {"boolean": "false", "integer": "0"}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _mistakes(path: str, declared: Mapping[str, Any], value: Any) -> Iterator[Mistake]:
    kind, items = declared.get("type"), declared.get("items")
    if kind == "array" and isinstance(value, list) and isinstance(items, Mapping):
        for number, item in enumerate(value):
            yield from _mistakes(property_path(path, number), items, item)
    elif not _is_a(kind, value):
        yield Mistake(path, f"must be {_WORDS.get(str(kind), kind)}, not {json.dumps(value)}")


_WORDS = {
    "array": WORDS["list"],
    "boolean": WORDS["bool"],
    "integer": WORDS["int"],
    "object": WORDS["dict"],
    "string": WORDS["string"],
}


def _is_a(kind: Any, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer" if isinstance(value, str):
            return value.removeprefix("-").removeprefix("+").isdecimal() and value.isascii()
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool) or value in ("true", "false")
        case "object":
            return isinstance(value, dict)
        case _:
            return False
