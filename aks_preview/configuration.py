"""The settings of aks-preview: azure-native's, and its own."""

import os
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from catalogue import azure_settings, secrecy
from catalogue.azure_settings import Setting
from catalogue.mistakes import Mistake

PACKAGE: Final = "aks-preview"
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        **azure_settings.SETTINGS,
        "apiVersion": Setting(
            (),
            "The version of the AKS API to use, such as `2026-08-02-preview`.",
            # The one that the SDK's own description of the properties belongs to.
            default="2026-08-01",
            pattern=r"\d{4}-\d{2}-\d{2}(-[a-z]+)?",
            has_to_be="a version of the API, such as `2026-08-01` or `2026-08-02-preview`",
        ),
        "takeOver": Setting(
            ("AKS_PREVIEW_TAKE_OVER",),
            "The resource IDs, separated by commas, of existing pools and clusters to update "
            "instead of creating them, because a killed update created them.",
        ),
    }
)
# Where resources are: one program means one Azure, whichever of its providers makes them.
PLACE = ("subscriptionId", "tenantId", "metadataHost", "environment")
# The variables that azure-native reads itself: fewer than aks-preview, and one more.
_OF_AZURE_NATIVE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "subscriptionId": ("ARM_SUBSCRIPTION_ID",),
        "tenantId": ("ARM_TENANT_ID",),
        "metadataHost": ("ARM_METADATA_HOSTNAME",),
        "environment": ("ARM_ENVIRONMENT", "AZURE_ENVIRONMENT"),
    }
)
# With one of these it does not sign in with the Azure CLI, whose account has a cloud of its own.
_SIGN_IN: Mapping[str, str] = MappingProxyType(
    {
        "clientCertificatePath": "ARM_CLIENT_CERTIFICATE_PATH",
        "clientSecret": "ARM_CLIENT_SECRET",
        "useMsi": "ARM_USE_MSI",
        "useOidc": "ARM_USE_OIDC",
    }
)
# Hidden in the state, whether or not the program asks for it.
HIDDEN = (
    secrecy.CREDENTIALS
    | secrecy.MAY_HOLD_SECRETS
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)


def contradictions(
    azure_native: Mapping[str, str],
    own: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    *,
    secret: Collection[str] = (),
) -> Iterator[Mistake]:
    """Where the configuration of aks-preview means another Azure than that of azure-native.

    Of what is secret no value is told.
    """
    for name in PLACE:
        theirs, source = _of_azure_native(name, azure_native, environment)
        ours = own.get(name)
        if theirs and ours and theirs.lower() != ours.lower():
            values = (
                f"differs from {source}"
                if name in secret
                else f"is {ours}, and {source} is {theirs}"
            )
            yield Mistake(
                f"{PACKAGE}:{name}",
                f"{values}, but all resources of a program must be in one Azure cloud and "
                f"subscription. Remove {PACKAGE}:{name}: aks-preview uses azure-native's",
            )


def _of_azure_native(
    name: str, given: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """What azure-native takes for a setting, and from where; '' where a program cannot know."""
    if value := given.get(name):
        return value, f"azure-native:{name}"
    for variable in _OF_AZURE_NATIVE[name]:
        if value := environment.get(variable):
            return value, variable
    default = SETTINGS[name].default
    by_itself = any(
        (given.get(setting) or environment.get(variable, "")).lower() not in ("", "0", "false")
        for setting, variable in _SIGN_IN.items()
    )
    return (default, f"the default of azure-native:{name}") if default and by_itself else ("", "")
