"""The features of Azure's subscriptions that programs register, of any provider."""

import re
from collections.abc import Mapping
from typing import Any

_TYPE = re.compile(
    r"aks-preview:features:FeatureRegistration"
    r"|azure-native(_features_v\w+)?:features(/v\w+)?:SubscriptionFeatureRegistration"
    r"|azure:core/\w+:ResourceProviderFeatureRegistration"
)


def registered(resource_type: str, properties: Mapping[str, Any], feature: str) -> str:
    """Returns the feature, as the program writes it, if the resource registers it; else empty."""
    if not _TYPE.fullmatch(resource_type):
        return ""
    name = str(properties.get("featureName") or properties.get("name"))
    return name if name.lower() == feature.lower() else ""
