"""The settings of aks-preview: azure-native's, and which version of AKS's API is spoken."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from provider_kit import configuration
from provider_kit.configuration import Setting

PACKAGE: Final = "aks-preview"
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        **configuration.SETTINGS,
        "apiVersion": Setting(
            (),
            "The version of AKS's API that is spoken, such as `2026-08-02-preview`.",
            # The one that the SDK's own description of the properties belongs to.
            default="2026-08-01",
        ),
    }
)
# What would let its reader in: hidden in the state, whether or not the program asks for it.
CREDENTIALS = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret"}
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)
