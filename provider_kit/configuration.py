"""The settings of a provider for Azure: its own configuration, else the environment.

The names are azure-native's, and so are the variables.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from catalogue.mistakes import Mistake
from provider_kit.serving import ProviderError


@dataclass(frozen=True)
class Setting:
    """One setting: the environment variables that stand for it, and what it says."""

    variables: tuple[str, ...]
    description: str
    is_secret: bool = False
    is_switch: bool = False
    default: str = ""


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "subscriptionId": Setting(
            ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"), "The id of the subscription."
        ),
        "tenantId": Setting(
            ("ARM_TENANT_ID", "AZURE_TENANT_ID"), "The id of the tenant that one signs in to."
        ),
        "clientId": Setting(
            ("ARM_CLIENT_ID", "AZURE_CLIENT_ID"),
            "The id of the service principal, or of a user-assigned managed identity.",
        ),
        "clientSecret": Setting(
            ("ARM_CLIENT_SECRET", "AZURE_CLIENT_SECRET"),
            "The secret of the service principal.",
            is_secret=True,
        ),
        "clientCertificatePath": Setting(
            ("ARM_CLIENT_CERTIFICATE_PATH", "AZURE_CLIENT_CERTIFICATE_PATH"),
            "The file of the service principal's certificate with its key, PEM or PKCS12.",
        ),
        "clientCertificatePassword": Setting(
            ("ARM_CLIENT_CERTIFICATE_PASSWORD", "AZURE_CLIENT_CERTIFICATE_PASSWORD"),
            "The password of that file.",
            is_secret=True,
        ),
        "useOidc": Setting(
            ("ARM_USE_OIDC",), "Sign in with a token of another issuer (OIDC).", is_switch=True
        ),
        "oidcToken": Setting(("ARM_OIDC_TOKEN",), "That token itself.", is_secret=True),
        "oidcTokenFilePath": Setting(
            ("ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"),
            "A file with that token, read anew whenever it is needed.",
        ),
        "oidcRequestUrl": Setting(
            ("ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"),
            "Where to ask for that token, as GitHub's runners have it.",
        ),
        "oidcRequestToken": Setting(
            ("ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
            "What to show when asking there.",
            is_secret=True,
        ),
        "useMsi": Setting(
            ("ARM_USE_MSI",),
            "Sign in as the managed identity of the machine; a clientId chooses among several.",
            is_switch=True,
        ),
        "metadataHost": Setting(
            ("ARM_METADATA_HOSTNAME",),
            "The host that describes the Azure cloud to use; the public cloud if there is none.",
        ),
        "environment": Setting(
            ("ARM_ENVIRONMENT",),
            "`public`, `usgovernment` or `china`; metadataHost goes before it.",
            default="public",
        ),
    }
)
# The engine's own, which it hands over with the settings.
_OF_THE_ENGINE = frozenset({"pluginDownloadURL", "version"})
_SWITCHES: Mapping[str, bool] = MappingProxyType(
    {"": False, "0": False, "1": True, "false": False, "true": True}
)


@dataclass(frozen=True)
class Configuration:
    """What was configured; the environment answers for the rest."""

    given: Mapping[str, Any]
    provider: str = "azure-native"
    settings: Mapping[str, Setting] = field(default_factory=lambda: SETTINGS)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def text(self, name: str) -> str:
        """A setting, or '' if it is not set."""
        if value := self.given.get(name):
            return str(value)
        setting = self.settings[name]
        found = (self.environment.get(variable) for variable in setting.variables)
        return next((value for value in found if value), setting.default)

    def required(self, name: str) -> str:
        if value := self.text(name):
            return value
        setting = self.settings[name]
        raise ProviderError(
            f"Azure cannot be reached without {name}: run `pulumi config set "
            f"{self.provider}:{name}{' --secret' if setting.is_secret else ''}`, or set "
            f"{setting.variables[0]}."
        )

    def is_on(self, name: str) -> bool:
        return _SWITCHES.get(self.text(name).lower(), False)


def setting_mistakes(
    given: Mapping[str, Any], settings: Mapping[str, Setting]
) -> Iterator[Mistake]:
    """Everything that is wrong with a configuration. The engine hands over texts alone."""
    for name in sorted(given.keys() - _OF_THE_ENGINE):
        value, setting = given[name], settings.get(name)
        if setting is None:
            yield Mistake(name, f"is not a setting; there are {', '.join(settings)}")
        elif isinstance(value, str) and setting.is_switch and value.lower() not in _SWITCHES:
            yield Mistake(name, "has to be `true` or `false`")
