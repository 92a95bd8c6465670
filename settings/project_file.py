"""What Pulumi.yaml says of stack files: where they lie, and of what type their values are."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalogue.mistakes import Mistake, property_path
from settings.reading import PROJECT
from settings.yaml_text import NoYamlError, Values, composed, decoded


@dataclass(frozen=True)
class ProjectFile:
    """A project file; where there is none, or it cannot be read, it says nothing."""

    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder_of_stacks(self) -> str:
        """Where the stack files are, from where the project file is."""
        # `config: folder` is how older projects say it.
        said = self.content.get("stackConfigDir") or self.content.get("config")
        return said if isinstance(said, str) else "."

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of the keys that a stack file leaves out."""
        found = {}
        for key, declared in self._declared.items():
            value = declared.get("value", declared.get("default"))
            if value is not None:
                found[key if ":" in key else f"{PROJECT}:{key}"] = value
        return found

    def mistakes(self, key: str, value: Any) -> Iterator[Mistake]:
        """The mistakes of a value that is not of the type that its key has."""
        own = self._declaration(key)
        if "type" in own:
            # Outside of lists and maps Pulumi keeps all as texts, and what is encrypted anyway.
            said = value if isinstance(value, list | dict) else _as_text(value)
            if isinstance(value, dict) and [*value] == ["secure"]:
                said = self.stand_in(key)
            yield from _mistakes(key, own, said)

    def stand_in(self, key: str) -> str:
        """A text for the value of a key that is encrypted, of the type that Pulumi looks for."""
        return _STAND_INS.get(str(self._declaration(key).get("type")), "secret")

    def _declaration(self, key: str) -> Mapping[str, Any]:
        return self._declared.get(f"{PROJECT}:{key}", self._declared.get(key, {}))

    @property
    def _declared(self) -> dict[str, Mapping[str, Any]]:
        config = self.content.get("config")
        return {
            key: said if isinstance(said, Mapping) else {"default": said}
            for key, said in (config.items() if isinstance(config, Mapping) else ())
        }


def read_project(folder: Path) -> ProjectFile:
    """The project file of a folder."""
    try:
        return project_in((folder / "Pulumi.yaml").read_bytes())
    except OSError:
        return ProjectFile()


def project_in(written: bytes) -> ProjectFile:
    """What a project file says."""
    try:
        root = composed(decoded(written))
    except NoYamlError:
        return ProjectFile()
    content = Values().of(root) if root is not None else {}
    return ProjectFile(content if isinstance(content, dict) else {})


# What is encrypted is a text; whether it says what it should is not known here.
_STAND_INS = {"boolean": "false", "integer": "0"}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _mistakes(path: str, declared: Mapping[str, Any], value: Any) -> Iterator[Mistake]:
    kind, items = declared.get("type"), declared.get("items")
    if kind == "array" and isinstance(value, list) and isinstance(items, Mapping):
        for number, item in enumerate(value):
            yield from _mistakes(property_path(path, number), items, item)
    elif not _is_a(kind, value):
        yield Mistake(path, f"is to be {_WORDS.get(str(kind), kind)}, not {json.dumps(value)}")


_WORDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "object": "a map",
    "string": "a text",
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
