"""The provider's schema, generated from its tables of resource types and settings."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from aks_catalogue.address import REPOSITORY
from aks_catalogue.azure_settings import Setting
from aks_preview.aks_types import AKS_TYPES, HEADERS, REPLACE_ON_HEADERS, AksType
from aks_preview.configuration import (
    DOWNLOAD_URL,
    HIDDEN,
    PACKAGE,
    SETTINGS,
    VERSION,
)
from aks_preview.features import FEATURE_INPUTS, FEATURE_REPLACES, FEATURE_TYPE, STATE
from provider_kit.shapes import STRING, Anything, ListOf, MapOf, ObjectOf, Scalar, Shape

_DESCRIPTIONS: Mapping[str, str] = {
    HEADERS: "HTTP headers of every PUT request for the resource, by name. Azure never returns "
    "them, so only the state has them.",
    REPLACE_ON_HEADERS: f"Whether a change of {HEADERS} replaces the pool. Otherwise the next "
    "request has them, and the nodes stay.",
}
_Json = dict[str, Any]
_ANY: Mapping[str, str] = MappingProxyType({"$ref": "pulumi.json#/Any"})


def schema() -> str:
    """Returns the schema as JSON."""
    types: _Json = {}
    resources = {token: _aks_resource(known, types) for token, known in AKS_TYPES.items()}
    resources[FEATURE_TYPE] = _feature(types)
    return json.dumps(
        {
            "name": PACKAGE,
            "displayName": "AKS preview",
            "version": VERSION,
            "description": "AKS features that azure-native does not support: node pools and "
            "clusters with custom HTTP headers, and preview features.",
            "keywords": ["aks", "azure", "gpu", "kubernetes", "category/cloud"],
            # Without its repository, of which Go's SDK would take the name of its module: that
            # is the components'.
            "homepage": f"https://{REPOSITORY}",
            "namespace": "aks-gpu",
            "license": "Apache-2.0",
            "publisher": "aks-gpu",
            "pluginDownloadURL": DOWNLOAD_URL,
            "config": {"variables": {name: _setting(known) for name, known in SETTINGS.items()}},
            "provider": {
                "inputProperties": {name: _setting(known) for name, known in SETTINGS.items()}
            },
            "types": types,
            "resources": resources,
        }
    )


def _aks_resource(aks_type: AksType, types: _Json) -> _Json:
    inputs = {
        name: _property(name, shape, types, aks_type.replaces.get(name))
        for name, shape in aks_type.inputs.fields.items()
    }
    outputs = {name: _property(name, shape, types) for name, shape in aks_type.outputs.items()}
    return {
        "description": aks_type.description,
        "inputProperties": inputs,
        "requiredInputs": sorted(aks_type.inputs.required),
        "properties": inputs | outputs,
        "required": sorted(aks_type.inputs.required | {"name"}),
    }


def _feature(types: _Json) -> _Json:
    inputs = {
        name: _property(name, shape, types, FEATURE_REPLACES.get(name))
        for name, shape in FEATURE_INPUTS.fields.items()
    }
    return {
        "description": "A preview feature of a resource provider, registered in the subscription.",
        "inputProperties": inputs,
        "requiredInputs": sorted(FEATURE_INPUTS.required),
        "properties": inputs | {STATE: _property(STATE, STRING, types)},
        "required": sorted(FEATURE_INPUTS.required | {STATE}),
    }


def _property(name: str, shape: Shape, types: _Json, replaces: str | None = None) -> _Json:
    result = _type(shape, types)
    if name in _DESCRIPTIONS:
        result["description"] = _DESCRIPTIONS[name]
    if replaces:
        result["willReplaceOnChanges"] = True
    if name in HIDDEN:
        result["secret"] = True
    return result


def _type(shape: Shape, types: _Json) -> _Json:
    match shape:
        case Scalar(kind=kind):
            return {"type": kind}
        case ListOf(item):
            return {"type": "array", "items": _type(item, types)}
        case MapOf(value):
            return {"type": "object", "additionalProperties": _type(value, types)}
        case ObjectOf() if all(map(str.isidentifier, shape.fields)):
            return {"$ref": f"#/types/{_object(shape, types)}"}
        case ObjectOf():
            # `scan-interval` is no name of a property in any language, but a key of a map.
            return {"type": "object", "additionalProperties": dict(_ANY)}
        case Anything():
            return dict(_ANY)


def _object(shape: ObjectOf, types: _Json) -> str:
    token = f"{PACKAGE}:containerservice:{shape.name}"
    if token not in types:
        types[token] = {
            "type": "object",
            "properties": {
                name: _property(name, member, types) for name, member in shape.fields.items()
            },
            "required": sorted(shape.required),
        }
    return token


def _setting(setting: Setting) -> _Json:
    result: _Json = {
        "type": "boolean" if setting.is_switch else "string",
        "description": setting.description,
    }
    return result | ({"secret": True} if setting.is_secret else {})
