"""The schema of the package, made from the classes of the components and of their arguments."""

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, cached_property
from inspect import get_annotations
from pathlib import Path
from typing import Any

import pulumi

import components
from aks_catalogue.address import REPOSITORY
from aks_catalogue.valid import choices_of
from aks_preview.configuration import VERSION
from components.declared import camel_case, rules_of
from components.package.docstrings import attributes, described, summary
from components.package.kinds import SCALARS, Kind, kind_of

FILE = Path(__file__).resolve().parent.parent / "schema.json"
PACKAGE = "aks-gpu"
# In the type of every component, also in existing stacks.
MODULE = "components"
_SECRET = frozenset({"kubeconfig"})

# Go's SDK does not compile without these: it would lack the arguments in a plain list, and set
# defaults in a required plain object. The components set them.
_GO = {
    "respectSchemaVersion": True,
    "generateExtraInputTypes": True,
    "disableObjectDefaults": True,
}
_PYTHON_NAME = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")
_Json = dict[str, Any]


def component_types() -> dict[str, type]:
    """Returns the components by their types in the package."""
    kinds = (getattr(components, name) for name in components.__all__)
    return {
        token(kind.__name__): kind for kind in kinds if issubclass(kind, pulumi.ComponentResource)
    }


def arguments_of(component: type) -> type:
    """Returns the class of a component's arguments."""
    kind: type = getattr(components, f"{component.__name__}Args")
    return kind


def token(name: str) -> str:
    return f"{PACKAGE}:{MODULE}:{name}"


@cache
def outputs_of(component: type) -> dict[str, Kind]:
    """Returns the outputs of a component, by their names in Python."""
    return {name: kind_of(_annotation(component, name)) for name in attributes(component)}


def schema() -> _Json:
    types: _Json = {}
    return {
        "name": PACKAGE,
        "namespace": "aks-gpu",
        "displayName": "GPUs on AKS",
        "version": VERSION,
        "description": "GPU node pools on Azure Kubernetes Service: cluster, node pools, and the "
        "NVIDIA device plugin.",
        "keywords": ["aks", "azure", "gpu", "kubernetes", "kind/component", "category/cloud"],
        "homepage": f"https://{REPOSITORY}",
        "repository": f"https://{REPOSITORY}",
        "license": "Apache-2.0",
        "publisher": "aks-gpu",
        "logoUrl": f"https://{REPOSITORY}/raw/main/docs/logo.svg",
        "pluginDownloadURL": f"git://{REPOSITORY}/components",
        "language": {"go": {**_GO}},
        "resources": {
            kind_token: _component(component, types)
            for kind_token, component in component_types().items()
        },
        "types": types,
    }


def as_text() -> str:
    """Returns the schema as schema.json has it."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def _component(component: type, types: _Json) -> _Json:
    arguments = arguments_of(component)
    outputs = {
        camel_case(name): _described(component, name, _type(kind, types))
        | ({"secret": True} if name in _SECRET else {})
        for name, kind in outputs_of(component).items()
    }
    return {
        "isComponent": True,
        "description": summary(component),
        "inputProperties": _properties(arguments, types),
        "requiredInputs": required_properties(arguments),
        "properties": outputs,
        "required": sorted(
            camel_case(name) for name, kind in outputs_of(component).items() if not kind.is_optional
        ),
    }


def _properties(arguments: Any, types: _Json) -> _Json:
    return {
        camel_case(field.name): _property(arguments, field, types) for field in fields(arguments)
    }


def required_properties(arguments: Any) -> list[str]:
    return sorted(camel_case(field.name) for field in fields(arguments) if is_required(field))


def is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _property(arguments: Any, field: Field[Any], types: _Json) -> _Json:
    kind = kind_of(field.type)
    name = camel_case(field.name)
    choices = _enums().get((arguments.__name__, name))
    found = _type(kind, types)
    if choices:
        enum_name, values = choices
        found = {"$ref": f"#/types/{token(enum_name)}"}
        types[token(enum_name)] = {
            "type": "string",
            "enum": [{"name": _member(value), "value": value} for value in values],
        }
    if not kind.is_input:
        found["plain"] = True
        if kind.items and not kind.items.is_input:
            found["items" if kind.base is list else "additionalProperties"]["plain"] = True
    if kind.base in SCALARS and field.default not in (MISSING, None):
        found["default"] = field.default
    property_ = _described(arguments, field.name, found)
    if not kind.is_input:
        property_["description"] += " Plain value: it cannot be an output."
    return property_


def _described(kind: type, name: str, found: _Json) -> _Json:
    return {"description": in_properties(described(kind, name).description), **found}


def in_properties(description: str) -> str:
    """Returns a description with the properties of the schema in place of Python's names."""
    return _PYTHON_NAME.sub(lambda name: f"`{camel_case(name[1])}`", description)


def _type(kind: Kind, types: _Json) -> _Json:
    if kind.base is object:
        return {"$ref": "pulumi.json#/Any"}
    if kind.base in SCALARS:
        return {"type": SCALARS[kind.base]}
    if kind.items:
        inner = _type(kind.items, types)
        if kind.base is list:
            return {"type": "array", "items": inner}
        return {"type": "object", "additionalProperties": inner}
    kind_token = token(kind.base.__name__.removesuffix("Args"))
    types[kind_token] = {
        "type": "object",
        "description": summary(kind.base),
        "properties": _properties(kind.base, types),
        "required": required_properties(kind.base),
    }
    return {"$ref": f"#/types/{kind_token}"}


@cache
def _enums() -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    """Returns the names and values of enums, by the class of arguments and the property.

    Properties of the same name and with the same values share one.
    """
    found = {
        (arguments, name): values
        for arguments in components.__all__
        if arguments.endswith("Args")
        for name in rules_of(getattr(components, arguments))
        if (values := choices_of(rules_of(getattr(components, arguments)), name))
    }
    sharing: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (arguments, name), values in found.items():
        sharing.setdefault((name, values), []).append(arguments)
    return {
        (arguments, name): (_enum_name(arguments, name, sharing[name, values]), values)
        for (arguments, name), values in found.items()
    }


def _enum_name(arguments: str, name: str, sharing: list[str]) -> str:
    own = "" if len(sharing) > 1 else arguments.removesuffix("Args")
    return f"{own}{name[0].upper()}{name[1:]}"


def _member(value: str) -> str:
    """Returns the name of an enum's member in code: `DevicePlugin` for `device-plugin`."""
    return "".join(part[0].upper() + part[1:] for part in re.split(r"\W", value))


def _annotation(component: type, name: str) -> Any:
    for base in component.__mro__:
        if (annotation := get_annotations(base).get(name)) is not None:
            return annotation
        match base.__dict__.get(name):
            case cached_property(func=function) | property(fget=function):
                return function.__annotations__["return"]
    raise AttributeError(name)


def argument_fields(arguments: Any) -> Iterator[tuple[str, Field[Any], Kind]]:
    """Yields the arguments: the name of the property, the field and its kind."""
    assert is_dataclass(arguments)  # noqa: S101 (whoever calls it knows)
    for field in fields(arguments):
        yield camel_case(field.name), field, kind_of(field.type)
