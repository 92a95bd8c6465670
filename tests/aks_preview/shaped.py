"""Values by the shapes of a resource: as a program says them, and as Azure may write the same."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from aks_catalogue.secrecy import CREDENTIALS
from rehearsal.offline_plug_ins.azure_native.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape

IDS = [
    "/subscriptions/S1/resourceGroups/Group/providers/Microsoft.Network/virtualNetworks/v",
    "/subscriptions/s1/resourcegroups/g/providers/microsoft.managedIdentity/u/Other",
]
ADDRESSES = {"authorizedIPRanges", "podCidr", "podCidrs", "serviceCidr", "serviceCidrs"}
# What is the same in another case, beside ids and choices.
ANY_CASE = {"agentPoolName", "dnsPrefix", "name", "resourceGroupName", "resourceName", "vmSize"}
IN_ORDER = {"autoscale", "ipFamilies", "manual", "podCidrs", "serviceCidrs"}
WORDS = {"location": ["East US", "westeurope"], "dnsServiceIP": ["10.0.0.10"]}
NUMBERS: dict[str, list[Any]] = {
    "integer": [0, 1, 30],
    "number": [-1, 0.5],
    "boolean": [True, False],
}


def is_id(name: str) -> bool:
    return name.endswith(("ID", "Id", "IDs", "Ids"))


def _words(kind: str, name: str) -> list[Any]:
    if kind != "string":
        return NUMBERS[kind]
    if name in ADDRESSES:
        return ["10.1.0.0/16", "1.2.3.4/32", "fd00::/64"]
    if is_id(name):
        return [*IDS, "0a0A0b0B-1111-2222-3333-44445555666D"]
    if name in ("tags", "userAssignedIdentities"):
        return IDS
    return WORDS.get(name, ["Standard", "a", "10%", "v2_X"])


def random_inputs(random: Random, shape: Shape, name: str = "") -> Any:
    """Something that a program may say where this shape is."""
    match shape:
        case Scalar(kind=kind):
            return random.choice(_words(kind, name))
        case ListOf(item):
            made = [random_inputs(random, item, name) for _ in range(random.randint(0, 3))]
            if not isinstance(item, ObjectOf):
                return [one for place, one in enumerate(made) if one not in made[:place]]
            if "name" in item.fields:
                return [one | {"name": f"p{place}"} for place, one in enumerate(made)]
            # Which of several is meant, nobody can tell of one that says little.
            return made[:1]
        case MapOf(value):
            return {
                key: random_inputs(random, value, name)
                for key in random.sample(["Aa", "b", "C/d"], 2)
            }
        case ObjectOf(fields=fields):
            few = random.sample(sorted(fields), min(len(fields), random.randint(0, 4)))
            some = random.choice([few, fields])
            names = [*shape.required, *(one for one in some if fields[one] != Anything())]
            return {one: random_inputs(random, fields[one], one) for one in sorted({*names})}
    raise AssertionError(shape)


def respelled(random: Random, shape: Shape, value: Any, name: str = "") -> Any:
    """The same in words that Azure may choose, with what it and others add."""
    match shape:
        case Scalar() if isinstance(value, str):
            return _other_text(random, shape, value, name)
        case Scalar():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return random.choice([value, text, value if isinstance(value, bool) else float(value)])
        case ListOf(item):
            items = [respelled(random, item, one, name) for one in value]
            if name not in IN_ORDER:
                random.shuffle(items)
            if name == "nodeTaints":
                items.append("kubernetes.azure.com/scalesetpriority=spot:NoSchedule")
            if name == "agentPoolProfiles" and items:
                items.append({"name": "another", "count": 3})
            empty: list[Any] = [[], None]
            return items or random.choice(empty)
        case MapOf(inner):
            return _other_map(random, inner, value, name)
        case ObjectOf():
            return _other_object(random, shape, value)
    return value


def _other_text(random: Random, shape: Scalar, text: str, name: str) -> str:
    if name in ADDRESSES:
        return random.choice([text, text.removesuffix("/32"), text.upper()])
    if name == "location":
        return random.choice([text, text.replace(" ", "").lower()])
    if name == "tags":
        return text
    if shape.is_choice or name in ANY_CASE or is_id(name) or text.startswith("/subscriptions/"):
        return random.choice([text, text.upper(), text.lower()])
    return text


def _other_map(random: Random, inner: Shape, values: Mapping[str, Any], name: str) -> Any:
    folds = name in ("tags", "addonProfiles", "config")
    other = {
        random.choice([key, key.upper()] if folds else [key]): respelled(random, inner, value, name)
        for key, value in values.items()
        if not (isinstance(value, dict) and value.get("enabled") is False)
    }
    if name == "nodeLabels":
        other["kubernetes.azure.com/mode"] = "user"
    elif folds:
        other["of-a-policy"] = random_inputs(random, inner, name)
    return other


def _other_object(random: Random, shape: ObjectOf, values: Mapping[str, Any]) -> dict[str, Any]:
    added = set(random.sample(sorted(shape.fields), min(len(shape.fields), 3)))
    # An autoscaler that somebody turned on is drift, and so is what it makes of a pool.
    added -= {"enableAutoScaling", "minCount", "maxCount", "name"}
    other = {
        name: random_inputs(random, shape.fields[name], name)
        for name in added
        if shape.fields[name] != Anything()
    }
    for name, value in values.items():
        other[name] = respelled(random, shape.fields[name], value, name)
        if name in CREDENTIALS or ((value is False or value in ([], {})) and random.random() < 0.3):
            del other[name]
    if values.get("enableAutoScaling") is True:
        other |= {"enableAutoScaling": True, "count": random.randint(0, 9)}
    return other


def holding(shape: Shape, odd: Any) -> Iterator[Any]:
    """Values of a shape with something odd, once in each place; little stands beside it."""
    yield odd
    match shape:
        case ListOf(item):
            yield from ([inner] for inner in holding(item, odd))
        case MapOf(item):
            yield from ({"a": inner} for inner in holding(item, odd))
        case ObjectOf(fields=fields):
            beside = _least(shape)
            for name, field in fields.items():
                yield from ({**beside, name: inner} for inner in holding(field, odd))


def _least(shape: Shape) -> Any:
    """As little as a program may say."""
    match shape:
        case ListOf():
            return []
        case MapOf():
            return {}
        case ObjectOf(fields=fields, required=required):
            return {name: _least(fields[name]) for name in required}
        case Scalar(kind=kind):
            return "a" if kind == "string" else NUMBERS[kind][0]
    return {}


def leaves(
    shape: Shape, value: Any, path: tuple[int | str, ...] = ()
) -> Iterator[tuple[int | str, ...]]:
    """Where a value has something that is told of it in Azure's answer."""
    match shape:
        case ObjectOf(fields=fields):
            scaled = value.get("enableAutoScaling") is True
            for name, inner in value.items():
                if name not in CREDENTIALS and not (scaled and name == "count"):
                    yield from leaves(fields[name], inner, (*path, name))
        case MapOf(member):
            for name, inner in value.items():
                is_off = isinstance(inner, dict) and inner.get("enabled") is False
                known = {"enabled": False} if is_off else inner
                yield from leaves(member, known, (*path, name))
        case ListOf(item):
            for place, inner in enumerate(value):
                yield from leaves(item, inner, (*path, place))
        case _:
            yield path


def changed(value: Any, path: tuple[int | str, ...]) -> Any:
    """The same with something else at a path."""
    if path:
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = changed(value[path[0]], path[1:])
        return copy
    if isinstance(value, bool):
        return not value
    if not isinstance(value, str):
        return value + 1
    return "203.0.113.0/24" if value[0].isdigit() and "/" in value else f"{value}-other"
