"""The settings of aks-preview: azure-native's, and its own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from aks_catalogue import azure_settings, secrecy
from aks_catalogue.address import REPOSITORY
from aks_catalogue.azure_settings import Setting

PACKAGE: Final = "aks-preview"
VERSION: Final = "0.1.0"
# Where the engine finds the plug-in of that version, if a project does not name a folder.
DOWNLOAD_URL: Final = f"git://{REPOSITORY}/plugins/aks_preview"
# The setting with the existing resources to update.
TAKE_OVER: Final = "takeOver"
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
# Secret in the state, even if the program does not mark them.
HIDDEN = (
    secrecy.CREDENTIALS
    | secrecy.CAN_CONTAIN_SECRETS
    | {name for name, setting in SETTINGS.items() if setting.is_secret}
)


def taken_over(text: str) -> frozenset[str]:
    """Returns the IDs that the setting `takeOver` names, in lower case."""
    return frozenset(f"/{item.strip('/ ')}" for item in text.lower().split(","))
