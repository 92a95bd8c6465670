"""The page of the stack file: every key."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from components.package.docstrings import (
    Attribute,
    attributes,
    described,
    in_properties,
    summary,
)
from reference.markdown import Row, Tables, code, sections, table
from stack_settings.model import Settings
from stack_settings.section import Section

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

Mistakes are reported together, each with its key, line and column, before anything is created.
`aksgpu preflight` reports them without running the program. Headers, labels, taints, tags, images,
address ranges and addresses can be secrets (`pulumi config set --secret`); other keys cannot.
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


def _parts() -> Iterator[tuple[str, type[Section]]]:
    """The sections of a stack file, with those in them, by their paths."""
    for field in Settings.model_fields.values():
        for section in _sections_in(field.annotation):
            yield from _with_parts(str(field.alias), section)


def _with_parts(key: str, section: type[Section]) -> Iterator[tuple[str, type[Section]]]:
    yield key, section
    for field in section.model_fields.values():
        for part in _sections_in(field.annotation):
            yield from _with_parts(f"{key}.{field.alias}", part)


def _part(tables: Tables, key: str, section: type[Section]) -> Iterator[str]:
    yield f"## {key}"
    yield summary(section)
    yield from tables.table(key, anchor(key), _HEAD, _keys(section, f"{key}."))


def _keys(section: type[Section], path: str) -> list[Row]:
    return [_key(section, path, name, field) for name, field in section.model_fields.items()]


def _key(section: type[Section], path: str, name: str, field: FieldInfo) -> Row:
    key = _described(section, name)
    parts = _sections_in(field.annotation)
    place = anchor(f"{path}{field.alias}")
    meaning = f"{key.meaning} [Its keys](#{place})" if parts else key.meaning
    # A section can have another default than the component.
    own = attributes(section).get(name)
    has_own_default = own and not own.description
    default = _default(field) if has_own_default else key.default or _default(field)
    return code(field.alias), _type(field.annotation), default, meaning


def keys_of_arguments() -> dict[type, tuple[str, type[Section]]]:
    """The sections that take keys from a component's arguments, with their paths."""
    # A rung of gpuCapacity is a pool of gpuPools, which people look for.
    parts = reversed([*_parts()])
    return {part.arguments: (path, part) for path, part in parts if part.arguments}


def is_argument(section: type[Section], name: str) -> bool:
    """Whether a key has type, default and description of the component's argument."""
    return name in section.model_fields and name not in attributes(section)


def anchor(path: str) -> str:
    return path.lower().replace(".", "")


def _described(section: type[Section], name: str) -> Attribute:
    own = attributes(section).get(name)
    if own and own.description:
        return own
    argument = described(section.arguments or section, name)
    return replace(argument, description=in_properties(argument.description))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    if field.default in (None, "", [], {}) or isinstance(field.default, Section):
        return "none"
    return code(json.dumps(field.default).strip('"'))


def _type(annotation: Any) -> str:
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    if get_origin(annotation) is list:
        return f"list of {_type(kinds[0])}s"
    if get_origin(annotation) is dict:
        return "map" if kinds[1] is Any else f"map of {_type(kinds[1])}s"
    if kinds:
        return _type(kinds[0])
    return _WORDS.get(annotation, "map")


def _sections_in(annotation: Any) -> list[type[Section]]:
    kinds = [annotation, *get_args(annotation)]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)]
