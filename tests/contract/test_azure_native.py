"""The contract of azure-native: the plug-in, offline or real, does what its table says."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rehearsal.offline_plug_ins.azure_native.native_types import TYPES, args_shape
from rehearsal.offline_plug_ins.azure_native.shapes import ListOf, MapOf, ObjectOf, Scalar, Shape
from tests.contract.conftest import ScriptedArm
from tests.contract.plugins import Change, Plugin, Running, running
from tests.contract.table import CheckCase, DiffCase, ReadCase, read_table
from tests.request_log import RequestLog

TABLE = read_table(Path(__file__).with_name("azure_native.yaml"))
PLUGIN = Plugin("azure-native", "tools/rehearsal/offline_plug_ins/azure_native")


@pytest.fixture(scope="module")
def azure_native(plugin_folder: Path | None, arm: ScriptedArm) -> Iterator[Running]:
    with running(PLUGIN, plugin_folder, arm.cloud.environment()) as plugin:
        yield plugin


def change(kinds: Mapping[str, str]) -> Change:
    """What azure-native says beside the kinds of the paths: it all follows from them."""
    replaces = frozenset(path for path, kind in kinds.items() if kind.endswith("_REPLACE"))
    changed = frozenset(path.split(".")[0] for path in kinds)
    return Change(dict(kinds), changed, replaces, bool(kinds), bool(replaces))


@pytest.mark.parametrize("case", TABLE.diffs, ids=str)
def test_diff_answers_as_in_the_table(case: DiffCase, azure_native: Running) -> None:
    assert azure_native.diff(case.token, case.old, case.state, case.new) == change(case.differs)


@pytest.mark.parametrize("case", TABLE.reads, ids=str)
def test_read_answers_as_in_the_table(
    case: ReadCase, azure_native: Running, arm: ScriptedArm
) -> None:
    arm.answer(case.id, case.status, case.answer)
    log = RequestLog(arm.cloud.request_log)

    answer = azure_native.read(case.token, case.id, case.inputs, case.state)

    if case.version:
        (asked,) = [sent for sent in log.lines() if sent["path"] == case.id]
        assert asked["query"]["api-version"] == case.version
    assert answer.id == ("" if case.gone else case.id)
    assert answer.inputs == case.finds


@pytest.mark.parametrize("case", TABLE.checks, ids=str)
def test_check_answers_as_in_the_table(case: CheckCase, azure_native: Running) -> None:
    refusals = azure_native.refusals(case.token, case.inputs)
    assert bool(refusals) == bool(case.refuses), refusals
    assert all(name in " ".join(refusals) for name in case.refuses), refusals
    if not refusals:
        given = {name: value for name, value in case.inputs.items() if value is not None}
        assert azure_native.checked(case.token, case.inputs) == given | case.adds


# From here on: each property that the SDK has, not the ones that somebody thought of.

Values = dict[str, Any]
ONE_AND_OTHER: Mapping[str, tuple[Any, Any]] = {
    "boolean": (False, True),
    "integer": (1, 2),
    "number": (0.25, 0.75),
    "string": ("one", "other"),
}


def places(shape: Shape, path: str = "", rule: str = "") -> Iterator[tuple[str, str, Any, Any]]:
    """Each place of a value in inputs of a shape: its path, its rule, and two values for it."""
    match shape:
        case ObjectOf(fields=fields):
            for name, inner in fields.items():
                below = (f"{path}.{name}", f"{rule}.{name}") if path else (name, name)
                for place, its_rule, one, other in places(inner, *below):
                    yield place, its_rule, {name: one}, {name: other}
        case ListOf(item):
            for place, its_rule, one, other in places(item, f"{path}[0]", f"{rule}[]"):
                yield place, its_rule, [one], [other]
        case MapOf(member):
            for place, its_rule, one, other in places(member, f"{path}.key", f"{rule}.key"):
                yield place, its_rule, {"key": one}, {"key": other}
        case Scalar(kind=kind):
            yield path, rule, *ONE_AND_OTHER[kind]
        case _:
            yield path, rule, "one", "other"


def replaces(rule: str, table: frozenset[str]) -> bool:
    """Whether an update replaces: the property is in the table, or an object that it is in."""
    parts = rule.split(".")
    parents = {".".join(parts[:count]) for count in range(1, len(parts))}
    return rule in table or not parents.isdisjoint(table)


def expected(path: str, rule: str, table: frozenset[str], kind: str) -> dict[str, str]:
    """What becomes of one value that comes, goes or is another."""
    parent, parent_path = rule.rpartition(".")[0], path.rpartition(".")[0]
    is_item = path.endswith("]")
    if kind == "UPDATE":
        return {path: "UPDATE_REPLACE" if replaces(rule, table) else "UPDATE"}
    grown = {parent_path: "UPDATE_REPLACE"} if parent in table and not is_item else {}
    is_forced = kind == "ADD" and rule in table
    return grown | {path: "ADD_REPLACE" if is_forced else kind}


def emptied(value: Any) -> Any:
    """The same objects and lists without the innermost value."""
    (inner,) = value.values() if isinstance(value, dict) else value
    if not isinstance(inner, dict | list):
        return type(value)()
    kept = emptied(inner)
    return dict.fromkeys(value, kept) if isinstance(value, dict) else [kept]


PROPERTIES = [
    pytest.param(name, top, id=f"{name}-{top}")
    for name, token in TABLE.types.items()
    for top in args_shape(TYPES[token].args).fields
]


@pytest.mark.parametrize(("name", "top"), PROPERTIES)
def test_each_property_is_updated_or_replaces_as_the_table_says(
    name: str, top: str, azure_native: Running
) -> None:
    token, table = TABLE.types[name], TABLE.replacing[name]
    shape = ObjectOf(top, {top: args_shape(TYPES[token].args).fields[top]})
    differing = {}
    for path, rule, one, other in places(shape):
        cases = {"UPDATE": (one, other), "ADD": (emptied(one), one), "DELETE": (one, emptied(one))}
        for kind, (old, new) in cases.items():
            answer = azure_native.diff(token, old, {}, new)
            recorded = change(expected(path, rule, table, kind))
            if answer != recorded:
                differing[f"{kind} of {path}"] = (answer, recorded)
    assert differing == {}


def wire(token: str, values: Values) -> Values:
    """Values as ARM answers them."""
    envelope = TYPES[token].envelope
    outside = {name: value for name, value in values.items() if name in envelope}
    inside = {name: value for name, value in values.items() if name not in envelope}
    return outside | {"properties": inside}


@pytest.mark.parametrize("name", TABLE.types)
def test_a_refresh_finds_each_property_that_changed_and_no_other(
    name: str, azure_native: Running, arm: ScriptedArm
) -> None:
    token, resource_id = TABLE.types[name], TABLE.ids[name]
    arm_type = TYPES[token]
    # ARM's own type hides the pool's in the state; the autoscaler's names are others on the wire.
    aside = {*arm_type.path_names, *arm_type.dashed, "type"}
    before: Values = {}
    after: Values = {}
    for top, shape in args_shape(arm_type.args).fields.items():
        if top not in aside:
            ((_, _, one, other), *_) = places(ObjectOf(top, {top: shape}))
            before, after = before | one, after | other
    arm.answer(resource_id, 200, {"id": resource_id, "name": "it", **wire(token, after)})

    assert azure_native.read(token, resource_id, {"kept": 1}, before).inputs == {"kept": 1} | after
    assert azure_native.read(token, resource_id, {"kept": 1}, after).inputs == {"kept": 1}
