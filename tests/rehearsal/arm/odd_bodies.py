"""Bodies of requests to AKS, from the table of its types: right ones, and ones with a twist."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from aks_catalogue.aks_types import aks_types

TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "0",
            "1",
            "100%",
            "-1",
            "x" * 300,
            "ä",
            "\u202e",
            "null",
            "a/b",
            "a=b:NoSchedule",
        ),
        *("Standard_D4ds_v5", "System", "User", "Spot", "Windows", "Managed", "1.35", "banana"),
        *("10.0.0.0/8", "10.0.0.0/16", "::/0", "MIG1g", "Ephemeral", "azure", "overlay", "🙂"),
    ]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTEGERS = st.sampled_from([-(1 << 31), -1, 0, 1, 3, 100, (1 << 31) - 1])
NUMBERS = INTEGERS | st.sampled_from([-1.0, 0.5, 1e300, 5e-324])
NAMES = st.sampled_from(["", "a", "A", "kubernetes.azure.com/mode", "x" * 64, "ä"]) | TEXTS
# Whatever JSON can say.
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS | st.sampled_from([1 << 31, 10**4000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)
SIMPLE = {
    "string": TEXTS,
    "boolean": st.booleans(),
    "integer": INTEGERS,
    "number": NUMBERS,
    "anything": ANYTHING,
}


def of_kind(kind: str) -> st.SearchStrategy[Any]:
    """Values of a kind; some are nulls."""
    container, _, inner = kind.partition(" of ")
    strategy = SIMPLE.get(kind)
    if container == "list":
        strategy = st.lists(deferred(inner), max_size=3)
    if container == "map":
        strategy = st.dictionaries(NAMES, deferred(inner), max_size=3)
    if strategy is None:
        fields = aks_types()[kind]
        names = st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True)
        strategy = names.flatmap(
            lambda some: st.fixed_dictionaries({name: deferred(fields[name]) for name in some})
        )
    return strategy | st.none()


def deferred(kind: str) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: of_kind(kind))


Path = tuple[str | int, ...]


def places(kind: str, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every place in a body of a type, at any depth, and the kind of what stands there."""
    if path:
        yield path, kind
    container, _, inner = kind.partition(" of ")
    if container == "list":
        yield from places(inner, (*path, 0))
    if container == "map":
        yield from places(inner, (*path, "a"))
    for name, of_field in aks_types().get(kind, {}).items():
        yield from places(of_field, (*path, name))


def with_value(body: Any, path: Path, value: Any) -> Any:
    """The body with another value at one place, and with whatever has to be around that."""
    if not path:
        return value
    if path[0] == 0:
        items = body if isinstance(body, list) and body else [None]
        return [with_value(items[0], path[1:], value), *items[1:]]
    fields = body if isinstance(body, dict) else {}
    return fields | {path[0]: with_value(fields.get(str(path[0])), path[1:], value)}


def twisted(kind: str, body: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A body that is right but, maybe, for the values at a few places."""
    paths = sorted(places(kind), key=str)
    twist = st.sampled_from(paths).flatmap(
        lambda place: st.tuples(st.just(place[0]), of_kind(place[1]) | ANYTHING)
    )
    return st.lists(twist, min_size=1, max_size=3).map(
        lambda twists: reduce(lambda so_far, one: with_value(so_far, *one), twists, body)
    )
