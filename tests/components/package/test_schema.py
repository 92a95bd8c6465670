"""The schema of the package says of each component what its classes say."""

import json
import re
from dataclasses import MISSING, fields

import components
from components.declared import camel_case
from components.package.provider import Components

SCHEMA = json.loads(Components().schema)
TYPES, RESOURCES = SCHEMA["types"], SCHEMA["resources"]


def test_each_property_has_a_description_without_python_names() -> None:
    """The SDK loses those of inherited arguments."""
    objects = [
        (token, own.get("inputProperties", {}) | own["properties"])
        for token, own in [*RESOURCES.items(), *TYPES.items()]
    ]
    for token, properties in objects:
        for name, own in properties.items():
            assert own["description"], f"{token} {name}"
            assert not re.search(r"[a-z]_[a-z]", own["description"]), f"{token} {name}"


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


def test_properties_are_of_the_types_of_their_arguments() -> None:
    pool = RESOURCES["aks-gpu:components:GpuNodePool"]["inputProperties"]
    assert "Default: `1`." in pool["count"]["description"]
    assert (pool["count"]["type"], pool["zones"]["items"]["type"]) == ("integer", "string")
    assert ("plain" in pool["gpuStack"], "plain" in pool["zones"]) == (True, False)
    cluster = RESOURCES["aks-gpu:components:AksCluster"]
    assert cluster["inputProperties"]["entra"]["$ref"] == "#/types/aks-gpu:components:Entra"
    assert {"id", "identifier", "kubeconfig"} < cluster["properties"].keys()
