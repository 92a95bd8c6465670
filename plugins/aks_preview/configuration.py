"""The settings of aks-preview: azure-native's, and its own."""

import os
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from aks_catalogue import azure_settings, secrecy
from aks_catalogue.address import REPOSITORY
from aks_catalogue.azure_settings import Setting
from aks_catalogue.mistakes import Mistake

PACKAGE: Final = "aks-preview"
VERSION: Final = "0.1.0"
# Where the engine finds the plug-in of that version, if a project does not name a folder.
DOWNLOAD_URL: Final = f"git://{REPOSITORY}/plugins/aks_preview"
# The setting with the existing resources to update.
TAKE_OVER: Final = "takeOver"
# Characters around a pasted ID.
_AROUND_IDS = "/\"' \t\r\n"
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        **azure_settings.SETTINGS,
        "apiVersion": Setting(
            (),
            "The version of the AKS API to use, such as `2026-08-02-preview`.",
            # The version of the Azure SDK's types.
            default="2026-08-01",
        ),
        TAKE_OVER: Setting(
            ("AKS_PREVIEW_TAKE_OVER",),
            "The resource IDs, separated by commas, of existing pools and clusters to update "
            "instead of creating them, because a killed update created them.",
        ),
    }
)
# The settings that must be the same for both providers of a program.
PLACE = ("subscriptionId", "tenantId", "metadataHost", "environment")
# The environment variables that azure-native reads. They differ from aks-preview's.
_AZURE_NATIVE_VARIABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "subscriptionId": ("ARM_SUBSCRIPTION_ID",),
        "tenantId": ("ARM_TENANT_ID",),
        "metadataHost": ("ARM_METADATA_HOSTNAME",),
        "environment": ("ARM_ENVIRONMENT", "AZURE_ENVIRONMENT"),
    }
)
# With one of these, azure-native does not use the Azure CLI, nor the cloud of its account.
_SIGN_IN: Mapping[str, str] = MappingProxyType(
    {
        "clientCertificatePath": "ARM_CLIENT_CERTIFICATE_PATH",
        "clientSecret": "ARM_CLIENT_SECRET",
        "useMsi": "ARM_USE_MSI",
        "useOidc": "ARM_USE_OIDC",
    }
)
# Secret in the state, even if the program does not mark them.
HIDDEN = (
    secrecy.CREDENTIALS
    | secrecy.CAN_CONTAIN_SECRETS
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)


def taken_over(text: str) -> frozenset[str]:
    """Returns the IDs that the setting `takeOver` names, in lower case."""
    return frozenset(f"/{item.strip(_AROUND_IDS)}" for item in text.lower().split(","))


def contradictions(
    azure_native: Mapping[str, str],
    aks_preview: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    *,
    secret: Collection[str] = (),
) -> Iterator[Mistake]:
    """Yields the settings that refer to another cloud or subscription than azure-native's.

    The messages do not contain secret values.
    """
    for name in PLACE:
        expected, source = _of_azure_native(name, azure_native, environment)
        actual = aks_preview.get(name)
        if expected and actual and expected.lower() != actual.lower():
            values = (
                f"differs from {source}"
                if name in secret
                else f"is {actual}, and {source} is {expected}"
            )
            yield Mistake(
                f"{PACKAGE}:{name}",
                f"{values}, but all resources of a program must be in one Azure cloud and "
                f"subscription. Remove {PACKAGE}:{name}: aks-preview uses azure-native's",
            )


def _of_azure_native(
    name: str, config: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Returns azure-native's value of a setting and its source; empty if that is unknown."""
    if value := config.get(name):
        return value, f"azure-native:{name}"
    for variable in _AZURE_NATIVE_VARIABLES[name]:
        if value := environment.get(variable):
            return value, variable
    default = SETTINGS[name].default
    without_cli = any(
        (config.get(setting) or environment.get(variable, "")).lower() not in ("", "0", "false")
        for setting, variable in _SIGN_IN.items()
    )
    return (default, f"the default of azure-native:{name}") if default and without_cli else ("", "")
