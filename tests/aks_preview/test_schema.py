"""The schema of aks-preview, from which Pulumi makes SDKs."""

import json
from typing import Any

from aks_preview.schema import schema

SCHEMA: dict[str, Any] = json.loads(schema())


def test_every_property_is_a_name_in_any_language() -> None:
    """The autoscaler's profile has `scan-interval`, and the SDK for TypeScript did not compile."""
    for kind, own in {**SCHEMA["types"], **SCHEMA["resources"]}.items():
        for name in own["properties"]:
            assert name.isidentifier(), (kind, name)


def test_the_autoscalers_profile_is_a_map() -> None:
    cluster = SCHEMA["resources"]["aks-preview:containerservice:ManagedCluster"]
    assert cluster["inputProperties"]["autoScalerProfile"] == {
        "type": "object",
        "additionalProperties": {"$ref": "pulumi.json#/Any"},
    }
