"""What in a package's schema breaks the programs that use it: written for the schema before.

A program can read any output and pass any input; in Go and C#, it also names their types. So
another type breaks it, even one that takes more values. Descriptions and deprecations do not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]
# A change of these to true is noticed in states, and no compiler tells.
_SWITCHES_OF_INPUTS = {
    "willReplaceOnChanges": "a change of it now replaces the resource",
    "replaceOnChanges": "a change of it now replaces the resource",
}


@dataclass(frozen=True)
class _Use:
    """How programs use the properties of an object."""

    as_input: bool
    as_output: bool


_INPUT, _OUTPUT, _BOTH = _Use(True, False), _Use(False, True), _Use(True, True)


def breaking_changes(before: Json, after: Json) -> list[str]:
    """Returns each change that breaks a program, with its place."""
    return sorted({*_package(before, after)})


def may_break(before: str, after: str) -> bool:
    """Whether the version may break programs: a new major one, or before 1.0 a minor one."""
    old, new = ([*map(int, version.split(".")[:2])] for version in (before, after))
    return new[:1] > old[:1] or (new[0] == old[0] == 0 and new > old)


def _package(before: Json, after: Json) -> Iterator[str]:
    if before["name"] != after["name"]:
        yield f"the package {before['name']} is called {after['name']}"
    variables = (
        _members(each.get("config", {}), "variables", "defaults") for each in (before, after)
    )
    yield from _object("the configuration", _INPUT, *variables)
    yield from _resource("the provider", before.get("provider", {}), after.get("provider", {}))
    for kind, compare in (("resources", _resource), ("functions", _function)):
        for token, own in before.get(kind, {}).items():
            other = after.get(kind, {}).get(token)
            if other is None:
                yield f"{token}: removed"
            else:
                yield from compare(token, own, other)
    uses = _uses(before)
    for token, own in before.get("types", {}).items():
        other = after.get("types", {}).get(token)
        if other is None:
            yield f"{token}: removed"
        elif "enum" in own or "enum" in other:
            yield from _enum(token, own, other)
        else:
            yield from _object(token, uses.get(token, _BOTH), own, other)


def _resource(where: str, before: Json, after: Json) -> Iterator[str]:
    if before.get("isComponent", False) != after.get("isComponent", False):
        yield f"{where}: it was a component, or has become one"
    inputs = (_members(each, "inputProperties", "requiredInputs") for each in (before, after))
    yield from _object(f"{where} input", _INPUT, *inputs)
    yield from _object(f"{where} output", _OUTPUT, before, after)


def _function(where: str, before: Json, after: Json) -> Iterator[str]:
    for name, use in (("inputs", _INPUT), ("outputs", _OUTPUT)):
        both = (each.get(name, {}) for each in (before, after))
        yield from _object(f"{where} {name.removesuffix('s')}", use, *both)


def _members(own: Json, properties: str, required: str) -> Json:
    return {"properties": own.get(properties, {}), "required": own.get(required, [])}


def _enum(where: str, before: Json, after: Json) -> Iterator[str]:
    if before.get("type") != after.get("type") or ("enum" in before) != ("enum" in after):
        yield f"{where}: another type"
        return
    left = {each["value"]: each.get("name") for each in after["enum"]}
    for each in before["enum"]:
        value, name = each["value"], each.get("name")
        if value not in left:
            yield f"{where} {value}: removed"
        elif left[value] != name:
            yield f"{where} {value}: called {left[value]}, not {name}"


def _object(where: str, use: _Use, before: Json, after: Json) -> Iterator[str]:
    old, new = before.get("properties", {}), after.get("properties", {})
    was_required, is_required = ({*each.get("required", ())} for each in (before, after))
    for name, own in old.items():
        if name not in new:
            yield f"{where} {name}: removed"
            continue
        yield from (f"{where} {name}: {change}" for change in _property(own, new[name], use))
        if use.as_output and name in was_required - is_required:
            yield f"{where} {name}: can be missing"
    if use.as_input:
        for name in sorted((is_required & new.keys()) - was_required):
            yield f"{where} {name}: required"


def _property(before: Json, after: Json, use: _Use) -> Iterator[str]:
    old, new = _type(before), _type(after)
    if old != new:
        yield f"{new}, not {old}"
    if use.as_input:
        if before.get("default") != after.get("default"):
            yield f"the default is {after.get('default')!r}, not {before.get('default')!r}"
        for switch, said in _SWITCHES_OF_INPUTS.items():
            if after.get(switch) and not before.get(switch):
                yield said
    if use.as_output and before.get("secret") and not after.get("secret"):
        yield "no longer a secret"


def _type(own: Json) -> str:
    """Returns a type in words; `plain` ones are of another type in most languages."""
    if "$ref" in own:
        said = own["$ref"].rpartition("/")[2]
    elif "oneOf" in own:
        said = " or ".join(map(_type, own["oneOf"]))
    elif "items" in own:
        said = f"list of {_type(own['items'])}"
    elif "additionalProperties" in own:
        said = f"map of {_type(own['additionalProperties'])}"
    else:
        said = own.get("type", "object")
    return f"plain {said}" if own.get("plain") else str(said)


def _uses(schema: Json) -> dict[str, _Use]:
    """Returns how programs use each type, wherever a property has it."""
    found: dict[str, _Use] = {}

    def note(value: Any, use: _Use) -> None:
        for token in _tokens(value):
            known = found.get(token, _Use(False, False))
            both = _Use(known.as_input or use.as_input, known.as_output or use.as_output)
            if both != known:
                found[token] = both
                note(schema.get("types", {}).get(token, {}).get("properties", {}), both)

    of_all = [schema.get("provider", {}), *schema.get("resources", {}).values()]
    for own in of_all:
        note(own.get("inputProperties", {}), _INPUT)
        note(own.get("properties", {}), _OUTPUT)
    for own in schema.get("functions", {}).values():
        note(own.get("inputs", {}), _INPUT)
        note(own.get("outputs", {}), _OUTPUT)
    note(schema.get("config", {}), _INPUT)
    return found


def _tokens(value: Any) -> Iterator[str]:
    match value:
        case {"$ref": str(reference)} if reference.startswith("#/types/"):
            yield reference.removeprefix("#/types/")
        case Mapping():
            for member in value.values():
                yield from _tokens(member)
        case list():
            for item in value:
                yield from _tokens(item)
