"""The features of Azure's subscriptions that programs register, of any provider."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aks_catalogue.shapes import mapping, sequence
from policies.unknowns import Unknowns

_FEATURE = re.compile(
    r"aks-preview:features:FeatureRegistration"
    r"|azure-native(_features_v\w+)?:features(/v\w+)?:SubscriptionFeatureRegistration"
    r"|azure:core/\w+:ResourceProviderFeatureRegistration"
)
# Has a list of features, each registered or unregistered.
_PROVIDER = re.compile(r"azure:core/\w+:ResourceProviderRegistration")


def registrations(
    resource_type: str, properties: Mapping[str, Any], feature: str, unknowns: Unknowns
) -> Iterator[str]:
    """Yields the feature, as the program writes it, if the resource registers it."""
    if _FEATURE.fullmatch(resource_type):
        yield from _named(properties.get("featureName") or properties.get("name"), feature)
    elif _PROVIDER.fullmatch(resource_type):
        listed = sequence(properties.get("features"))
        indices = range(len(listed))
        yield from unknowns.each(indices, lambda index: _by_provider(listed[index], feature))


def _by_provider(listed: Any, feature: str) -> Iterator[str]:
    for name in _named(mapping(listed).get("name"), feature):
        # Whether other features are registered does not matter, and can be unknown.
        if str(mapping(listed).get("registered")).lower() != "false":
            yield name


def _named(name: Any, feature: str) -> Iterator[str]:
    if str(name).lower() == feature.lower():
        yield str(name)
