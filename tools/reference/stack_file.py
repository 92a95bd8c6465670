"""The page of the stack file: every key."""

import json
from collections.abc import Iterator
from dataclasses import MISSING, Field, is_dataclass, replace
from typing import Any

from components.kinds import Kind, kind_of
from components.package.docstrings import (
    Attribute,
    attributes,
    described,
    in_properties,
    summary,
)
from reference.markdown import Row, Tables, code, sections, table
from stack_settings.model import Settings
from stack_settings.section import Section, arguments_of, default_of, keys

_INTRODUCTION = """\
A stack file, `Pulumi.NAME.yaml`, describes a stack. Each key below begins with `aks-gpu:`; the file
[Pulumi.prod.yaml](../../Pulumi.prod.yaml) shows many of them. For example:

    config:
      aks-gpu:location: westeurope
      aks-gpu:cluster:
        name: team
      aks-gpu:gpuPools:
        - name: training
          vmSize: Standard_NC24ads_A100_v4
          minCount: 0
          maxCount: 4
          count: 0
          spot: true
        - name: notebooks
          vmSize: Standard_NC24ads_A100_v4
          migProfile: MIG1g

Mistakes are reported together, each with its key and line, before anything is created.
`aksgpu preflight` reports them without running the program. Values of `customHeaders`, `extra` and
`gpuOperator.values` can be secrets (`pulumi config set --secret`); other keys cannot.
What a key that you remove does to Azure:
[which keys Azure keeps](../decisions/0029-what-is-taken-out.md)."""

_HEAD = ("key", "type", "default", "meaning")
_WORDS = {str: "string", int: "number", float: "number", bool: "boolean"}


# What this section has in common with others stands there: it is the one that people look for.
_FIRST = "gpuPools"


def page() -> str:
    tables, parts = Tables(), dict(_parts())
    tables.claim(_FIRST, _FIRST.lower(), _keys(parts[_FIRST], f"{_FIRST}."))
    return sections(
        "Stack file",
        _INTRODUCTION,
        "## All keys",
        table(_HEAD, _keys(Settings, "")),
        *(text for key, section in parts.items() for text in _part(tables, key, section)),
    )


def _parts() -> Iterator[tuple[str, Any]]:
    """The sections of a stack file, with those in them, by their paths."""
    for key, section in _sections_in(Settings):
        yield from _with_parts(key, section)


def _with_parts(path: str, section: Any) -> Iterator[tuple[str, Any]]:
    yield path, section
    for key, part in _sections_in(section):
        yield from _with_parts(f"{path}.{key}", part)


def _sections_in(section: Any) -> Iterator[tuple[str, Any]]:
    """The sections that are values of a section's keys, or in lists of them, by key."""
    for key, field in keys(section).items():
        kind = kind_of(field.type)
        kind = kind.items or kind
        if is_dataclass(kind.base):
            yield key, kind.base


def _part(tables: Tables, path: str, section: Any) -> Iterator[str]:
    yield f"## {path}"
    yield summary(section)
    yield from tables.table(path, anchor(path), _HEAD, _keys(section, f"{path}."))


def _keys(section: Any, path: str) -> list[Row]:
    parts = dict(_sections_in(section))
    return [_key(section, path, key, key in parts) for key in keys(section)]


def _key(section: Any, path: str, key: str, has_keys: bool) -> Row:
    field = keys(section)[key]
    about, kind = _described(section, field), kind_of(field.type)
    place = anchor(f"{path}{key}")
    meaning = f"{about.meaning} [Its keys](#{place})" if has_keys else about.meaning
    # A section can have another default than the component.
    own = attributes(section).get(field.name)
    has_own_default = own and not own.description
    default = _default(field) if has_own_default else about.default or _default(field)
    return code(key), _type(kind), default, meaning


def keys_of_arguments() -> dict[type, tuple[str, Any]]:
    """The sections that take keys from a component's arguments, with their paths."""
    # A rung of gpuCapacity is a pool of gpuPools, which people look for.
    return {arguments_of(part): (path, part) for path, part in reversed([*_parts()])}


def is_argument(section: Any, name: str) -> bool:
    """Whether a key has type, default and description of the component's argument."""
    is_own = name in attributes(section) and issubclass(section, Section)
    return not is_own and name in (field.name for field in keys(section).values())


def anchor(path: str) -> str:
    return path.lower().replace(".", "")


def _described(section: Any, field: "Field[Any]") -> Attribute:
    own = attributes(section).get(field.name)
    if own and own.description and issubclass(section, Section):
        return own
    if section is Settings and own:
        return replace(own, description=summary(kind_of(field.type).base))
    argument = described(arguments_of(section) or section, field.name)
    return replace(argument, description=in_properties(argument.description))


def _default(field: "Field[Any]") -> str:
    default = default_of(field)
    if default is MISSING:
        return "none" if is_dataclass(kind_of(field.type).base) else "**required**"
    return "none" if default in (None, "", (), {}) else code(json.dumps(default).strip('"'))


def _type(kind: Kind) -> str:
    if kind.items and kind.base is list:
        return f"list of {_type(kind.items)}s"
    if kind.items:
        return "map" if kind.items.base is object else f"map of {_type(kind.items)}s"
    return _WORDS.get(kind.base, "map")
