"""The schema of the package says of each component what its classes say."""

import json
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

import components
from components.declared import camel_case
from components.package.provider import Components

SCHEMA = json.loads(Components().schema)
TYPES, RESOURCES = SCHEMA["types"], SCHEMA["resources"]


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for token, resource in RESOURCES.items():
        yield token, resource["inputProperties"]
        yield token, resource["properties"]
    for token, own in TYPES.items():
        yield token, own["properties"]


def test_each_property_has_a_description_without_python_names() -> None:
    """The SDK loses those of inherited arguments."""
    for token, properties in objects():
        for name, own in properties.items():
            assert own["description"], f"{token} {name}"
            assert not re.search(r"[a-z]_[a-z]", own["description"]), f"{token} {name}"


def test_inputs_that_decide_which_resources_exist_are_plain() -> None:
    """It cannot be an output: a plain value in the schema, and in its description."""
    for token, properties in objects():
        for name, own in properties.items():
            is_plain = own.get("plain", False)
            assert is_plain == ("Plain value" in own["description"]), f"{token} {name}"


def test_an_argument_with_a_default_can_be_left_out() -> None:
    """The SDK requires it, unless it can be None."""
    for name in components.__all__:
        if name.endswith("Args"):
            token = f"aks-gpu:components:{name.removesuffix('Args')}"
            about = [RESOURCES[token]["requiredInputs"]] if token in RESOURCES else []
            about += [TYPES[token].get("required", [])] if token in TYPES else []
            required = sorted(
                camel_case(field.name)
                for field in fields(getattr(components, name))
                if field.default is field.default_factory is MISSING
            )
            assert about
            assert all(each == required for each in about), name


def test_defaults_are_in_descriptions() -> None:
    pool = RESOURCES["aks-gpu:components:GpuNodePool"]["inputProperties"]
    assert "Default: `1`." in pool["count"]["description"]
    assert (pool["count"]["type"], pool["zones"]["items"]["type"]) == ("integer", "string")
    assert "plain" not in pool["zones"]


def test_nested_objects_are_types() -> None:
    cluster = RESOURCES["aks-gpu:components:AksCluster"]
    assert cluster["inputProperties"]["entra"]["$ref"] == "#/types/aks-gpu:components:Entra"
    assert TYPES["aks-gpu:components:SystemPool"]["properties"]["vmSize"]["type"] == "string"
    assert {"id", "identifier", "kubeconfig"} < cluster["properties"].keys()


def test_an_sdk_asks_for_no_other_sdk() -> None:
    """It asked npm and PyPI for one of aks-preview, which they do not have."""
    assert not SCHEMA["dependencies"]
