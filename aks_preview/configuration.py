"""The settings of aks-preview: azure-native's, and which version of AKS's API is spoken."""

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from catalogue import azure_settings
from catalogue.azure_settings import Setting
from catalogue.mistakes import Mistake

PACKAGE: Final = "aks-preview"
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        **azure_settings.SETTINGS,
        "apiVersion": Setting(
            (),
            "The version of AKS's API that is spoken, such as `2026-08-02-preview`.",
            # The one that the SDK's own description of the properties belongs to.
            default="2026-08-01",
        ),
    }
)
# Where resources are: one program means one Azure, whichever of its providers makes them.
PLACE = ("subscriptionId", "tenantId", "metadataHost", "environment")
# What would let its reader in: hidden in the state, whether or not the program asks for it.
CREDENTIALS = frozenset(
    {"adminPassword", "kubeconfig", "password", "secret"}
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)


def contradictions(
    azure_native: Mapping[str, str],
    own: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Mistake]:
    """Where the configuration of aks-preview means another Azure than that of azure-native."""
    for name in PLACE:
        variable = SETTINGS[name].variables[0]
        theirs, source = azure_native.get(name), f"azure-native:{name}"
        if not theirs:
            theirs, source = environment.get(variable), variable
        ours = own.get(name)
        if theirs and ours and theirs.lower() != ours.lower():
            yield Mistake(
                f"{PACKAGE}:{name}",
                f"is {ours}, and {source} is {theirs}: the resources of one program would be in "
                f"two places. Remove {PACKAGE}:{name}: aks-preview takes it from azure-native",
            )
