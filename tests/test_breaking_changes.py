"""Every change of a schema that breaks a program is found and named, and no other one is."""

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.breaking_changes import breaking_changes, may_break
from tests.released import PACKAGES, released

Json = dict[str, Any]
Edit = tuple[Json, str]
NAMES = st.sampled_from("abcd")
TYPES = ("p:m:One", "p:m:Two")
# Each of the objects that a program names: where it is, and what its properties are called.
INPUTS = ("input", "inputProperties", "requiredInputs")
OUTPUTS = ("output", "properties", "required")


def leaves() -> st.SearchStrategy[Json]:
    scalars = st.sampled_from(("string", "integer", "number", "boolean")).map(
        lambda kind: {"type": kind}
    )
    references = st.sampled_from(TYPES).map(lambda token: {"$ref": f"#/types/{token}"})
    return scalars | references | st.just({"$ref": "pulumi.json#/Any"})


kinds = st.recursive(
    leaves(),
    lambda inner: (
        inner.map(lambda items: {"type": "array", "items": items})
        | inner.map(lambda values: {"type": "object", "additionalProperties": values})
    ),
    max_leaves=3,
)


@st.composite
def properties(draw: st.DrawFn) -> Json:
    flags = st.sampled_from(("plain", "secret", "willReplaceOnChanges"))
    default = draw(st.none() | st.integers(0, 3))
    return (
        draw(kinds)
        | dict.fromkeys(draw(st.sets(flags)), True)
        | ({} if default is None else {"default": default})
    )


@st.composite
def objects(draw: st.DrawFn, *parts: tuple[str, str, str]) -> Json:
    found: Json = {}
    for _, members, required in parts:
        found[members] = draw(st.dictionaries(NAMES, properties(), max_size=3))
        found[required] = sorted(draw(st.sets(st.sampled_from([*found[members], ""]))) - {""})
    return found


enums = st.lists(NAMES, min_size=1, unique=True).map(
    lambda values: {
        "type": "string",
        "enum": [{"name": value.upper(), "value": value} for value in values],
    }
)


@st.composite
def schemas(draw: st.DrawFn) -> Json:
    return {
        "name": "p",
        "version": "0.1.0",
        "resources": draw(
            st.dictionaries(
                st.sampled_from(("p:m:A", "p:m:B")), objects(INPUTS, OUTPUTS), min_size=1
            )
        ),
        "types": {token: draw(objects(OUTPUTS) | enums) for token in TYPES},
    }


def edited(schema: Json, *path: str) -> tuple[Json, Any]:
    """A copy of the schema, as deep as the path, and the part of it there."""
    part = whole = dict(schema)
    for key in path:
        part[key] = copy.copy(part[key])
        part = part[key]
    return whole, part


def parts(schema: Json) -> Iterator[tuple[tuple[str, str], str, str, str]]:
    """Where each object is, what it is called, and the names of its properties and of required."""
    for token in schema["resources"]:
        for kind, members, required in (INPUTS, OUTPUTS):
            yield ("resources", token), f"{token} {kind}", members, required
    for token, own in schema["types"].items():
        if "enum" not in own:
            yield ("types", token), token, "properties", "required"


def removals(schema: Json) -> Iterator[Edit]:
    """Every schema with one thing less, and what is said of it."""
    for kind in ("resources", "types"):
        for token in schema[kind]:
            whole, of_kind = edited(schema, kind)
            del of_kind[token]
            yield whole, f"{token}: removed"
    for path, called, members, _ in parts(schema):
        for name in edited(schema, *path, members)[1]:
            whole, of_object = edited(schema, *path, members)
            del of_object[name]
            yield whole, f"{called} {name}: removed"
    for token, own in schema["types"].items():
        for index, member in enumerate(own.get("enum", ())):
            whole, of_enum = edited(schema, "types", token, "enum")
            del of_enum[index]
            yield whole, f"{token} {member['value']}: removed"


def otherwise(schema: Json) -> Iterator[Edit]:
    """Every schema with one thing that is otherwise and breaks programs, and what is said of it."""
    for path, called, members, required in parts(schema):
        _, before = edited(schema, *path)
        edits = [
            _with_another_type,
            _with_the_other_plain,
            *OF_A_KIND.get(called.rpartition(" ")[2], ()),
        ]
        for name in before[members]:
            for edit in edits:
                whole, own = edited(schema, *path, members, name)
                if said := edit(own):
                    yield whole, f"{called} {name}: {said}"
            whole, own = edited(schema, *path)
            if required == "requiredInputs" and name not in before[required]:
                own[required] = [*before[required], name]
                yield whole, f"{called} {name}: required"
            if called.endswith(" output") and name in before[required]:
                own[required] = [other for other in before[required] if other != name]
                yield whole, f"{called} {name}: can be missing"
    for token, kind in schema["types"].items():
        for index, member in enumerate(kind.get("enum", ())):
            whole, of_enum = edited(schema, "types", token, "enum")
            of_enum[index] = member | {"name": "Other"}
            yield whole, f"{token} {member['value']}: called Other, not {member['name']}"


def _with_another_type(own: Json) -> str:
    own["items"] = {key: own.pop(key) for key in ("type", "$ref", "items") if key in own}
    own["type"] = "array"
    return "plain list of " if own.get("plain") else "list of "


def _with_the_other_plain(own: Json) -> str:
    own["plain"] = not own.get("plain", False)
    return "plain " if own["plain"] else ""


def _with_another_default(own: Json) -> str:
    before = own.get("default")
    own["default"] = "another"
    return f"the default is 'another', not {before!r}"


def _that_replaces(own: Json) -> str | None:
    if own.get("willReplaceOnChanges"):
        return None
    own["willReplaceOnChanges"] = True
    return "a change of it now replaces the resource"


def _without_secret(own: Json) -> str | None:
    return "no longer a secret" if own.pop("secret", False) else None


# By the last word of what an object is called.
OF_A_KIND: dict[str, tuple[Callable[[Json], str | None], ...]] = {
    "input": (_with_another_default, _that_replaces),
    "output": (_without_secret,),
}


def unnoticed(before: Json, edits: Iterable[Edit]) -> list[str]:
    return [
        name
        for after, name in edits
        if not any(name in change for change in breaking_changes(before, after))
    ]


@pytest.mark.parametrize("name", PACKAGES)
def test_no_property_of_a_real_schema_goes_unnoticed(name: str) -> None:
    before = after = released(name)
    expected = set()
    for path, called, members, _ in parts(before):
        expected |= {f"{called} {each}: removed" for each in edited(before, *path)[1][members]}
        after, own = edited(after, *path)
        own[members] = {}
    assert len(expected) > 100
    assert expected <= {*breaking_changes(before, after)}


@given(schemas())
def test_every_removal_is_named(before: Json) -> None:
    assert unnoticed(before, removals(before)) == []


@given(schemas())
def test_every_other_breaking_change_is_named(before: Json) -> None:
    assert unnoticed(before, otherwise(before)) == []


additions = st.dictionaries(st.sampled_from("wxyz"), properties(), max_size=2)


@given(schemas(), schemas(), additions, st.sampled_from(("requiredInputs", "none")))
def test_no_addition_that_is_optional_breaks_a_program(
    before: Json, more: Json, added: Json, no_longer: str
) -> None:
    """Nor does it that a required input becomes optional."""
    after = before | {kind: more[kind] | before[kind] for kind in ("resources", "types")}
    for path, _, members, required in parts(before):
        after, own = edited(after, *path)
        own |= {members: added | own[members], "description": "More."}
        if required == no_longer:
            own[required] = []
    for token, kind in before["types"].items():
        if "enum" in kind:
            after, own = edited(after, "types", token)
            own["enum"] = [{"name": "More", "value": "more"}, *own["enum"]]

    assert breaking_changes(before, after) == []


@pytest.mark.parametrize(
    ("as_input", "as_output", "expected"),
    [
        (True, False, ["p:m:T b: required"]),
        (False, True, ["p:m:T a: can be missing"]),
        (True, True, ["p:m:T a: can be missing", "p:m:T b: required"]),
    ],
)
def test_what_must_be_there_in_a_type_depends_on_who_fills_it_in(
    as_input: bool, as_output: bool, expected: list[str]
) -> None:
    """The type is within another one, in a list."""
    reference = {"type": "array", "items": {"$ref": "#/types/p:m:Outer"}}

    def schema(*required: str) -> Json:
        return {
            "name": "p",
            "types": {
                "p:m:Outer": {"properties": {"inner": {"$ref": "#/types/p:m:T"}}},
                "p:m:T": {
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                    "required": [*required],
                },
            },
            "resources": {
                "p:m:R": {
                    "inputProperties": {"i": reference} if as_input else {},
                    "properties": {"o": reference} if as_output else {},
                }
            },
        }

    assert breaking_changes(schema("a"), schema("b")) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("0.1.0", "0.1.1", False),
        ("0.1.9", "0.2.0", True),
        ("0.9.0", "0.10.0", True),
        ("0.9.0", "1.0.0", True),
        ("1.2.0", "1.3.0", False),
        ("1.2.0", "2.0.0", True),
        ("0.2.0", "0.1.0", False),
    ],
)
def test_a_new_major_version_may_break_programs_and_before_1_a_minor_one(
    before: str, after: str, expected: bool
) -> None:
    assert may_break(before, after) is expected
