"""The schema of the package says of each component what its classes say."""

import re
from collections.abc import Iterator
from typing import Any

from components.package import schema

TYPES = schema.schema()["types"]
RESOURCES = schema.schema()["resources"]


def test_the_schema_is_up_to_date() -> None:
    """An argument or a default changed, and other languages still had the old one: `make docs`."""
    assert schema.FILE.read_text(encoding="utf-8") == schema.as_text()


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for token, resource in RESOURCES.items():
        yield token, resource["inputProperties"]
        yield token, resource["properties"]
    for token, own in TYPES.items():
        yield token, own.get("properties", {})


def test_each_property_has_a_description_without_python_names() -> None:
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


def test_arguments_have_defaults_enums_and_plain_values() -> None:
    pool = RESOURCES["aks-gpu:components:GpuNodePool"]["inputProperties"]
    assert pool["gpuStack"]["$ref"] == "#/types/aks-gpu:components:GpuStack"
    assert (pool["gpuStack"]["default"], pool["gpuStack"]["plain"]) == ("device-plugin", True)
    assert (pool["count"]["type"], pool["count"]["default"]) == ("integer", 1)
    assert pool["zones"]["items"] == {"type": "string"}
    assert "plain" not in pool["zones"]
    values = [each["value"] for each in TYPES["aks-gpu:components:GpuStack"]["enum"]]
    assert {"device-plugin", "none"} <= {*values}


def test_nested_objects_are_types() -> None:
    cluster = RESOURCES["aks-gpu:components:AksCluster"]
    assert cluster["requiredInputs"] == [
        "clusterName",
        "location",
        "resourceGroupName",
        "systemPool",
    ]
    assert cluster["inputProperties"]["entra"]["$ref"] == "#/types/aks-gpu:components:Entra"
    assert TYPES["aks-gpu:components:SystemPool"]["required"] == ["vmSize"]


def test_a_kubeconfig_is_a_secret() -> None:
    outputs = RESOURCES["aks-gpu:components:AksCluster"]["properties"]
    assert [name for name, own in outputs.items() if own.get("secret")] == ["kubeconfig"]


def test_an_sdk_asks_for_no_other_sdk() -> None:
    """It asked npm and PyPI for one of aks-preview, which they do not have."""
    assert "dependencies" not in schema.schema()


def test_the_members_of_enums_are_names() -> None:
    """`sku=gpu` is a value, and no name in any language."""
    enums = [kind["enum"] for kind in TYPES.values() if "enum" in kind]
    assert all(member["name"].isidentifier() for members in enums for member in members)
