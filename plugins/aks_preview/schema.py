"""The provider's schema: the resources by name, for `pulumi import`.

Programs take the components, or the classes of `resources.py`: so the schema has no types.
"""

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from aks_catalogue.address import REPOSITORY
from aks_preview.aks_types import AKS_TYPES, HEADERS, REPLACE_ON_HEADERS
from aks_preview.configuration import DOWNLOAD_URL, HIDDEN, PACKAGE, SETTINGS, VERSION
from aks_preview.features import FEATURE, FEATURE_TYPE, NAMESPACE, STATE, UNREGISTER

_ANY: Mapping[str, str] = MappingProxyType({"$ref": "pulumi.json#/Any"})


def schema() -> str:
    """Returns the schema as JSON."""
    settings = {
        name: {"type": "string", "description": known.description, "secret": known.is_secret}
        for name, known in SETTINGS.items()
    }
    resources = {
        token: _resource(known.path_names, [*known.known.fixed, HEADERS, REPLACE_ON_HEADERS])
        for token, known in AKS_TYPES.items()
    }
    resources[FEATURE_TYPE] = _resource([NAMESPACE, FEATURE], [UNREGISTER], [STATE])
    return json.dumps(
        {
            "name": PACKAGE,
            "version": VERSION,
            "homepage": f"https://{REPOSITORY}",
            "pluginDownloadURL": DOWNLOAD_URL,
            "config": {"variables": settings},
            "provider": {"inputProperties": settings},
            "resources": resources,
        }
    )


def _resource(
    required: Iterable[str], others: Iterable[str], outputs: Iterable[str] = ()
) -> dict[str, Any]:
    names = [*required, *(name for name in others if "." not in name)]
    inputs = {name: {**_ANY, "secret": name in HIDDEN} for name in names}
    more: dict[str, Any] = {name: dict(_ANY) for name in outputs}
    return {
        "inputProperties": inputs,
        "requiredInputs": [*required],
        "properties": inputs | more,
        "required": [*required],
    }
