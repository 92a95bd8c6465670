"""The settings of an Azure provider, from its configuration, the environment, or the Azure CLI.

Names and environment variables are those of azure-native.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from aks_catalogue.azure_settings import SETTINGS, Setting
from aks_catalogue.mistakes import Mistake
from provider_kit.secrecy import Masking
from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN

# The engine passes these with the settings.
_OF_THE_ENGINE = frozenset({"pluginDownloadURL", "version"})
# The clouds of the Azure CLI that are not public, and the settings in its account.
_CLOUDS: Mapping[str, str] = MappingProxyType(
    {"AzureChinaCloud": "china", "AzureUSGovernment": "usgovernment"}
)
_OF_THE_CLI: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "subscriptionId": lambda account: str(account["id"]),
        "environment": lambda account: _CLOUDS.get(account["environmentName"], "public"),
    }
)
# As long as the Azure SDK waits for the CLI's token.
_CLI_SECONDS = 10
_OR_SIGN_IN = ", or sign in with `az login`"
_SWITCHES: Mapping[str, bool] = MappingProxyType(
    {"": False, "0": False, "1": True, "false": False, "true": True}
)


@dataclass(frozen=True)
class Configuration:
    """The configuration; the environment supplies what it does not set."""

    given: Mapping[str, Any]
    provider: str = "azure-native"
    settings: Mapping[str, Setting] = field(default_factory=lambda: SETTINGS)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def text(self, name: str) -> str:
        """Returns a setting; empty if it is not set."""
        setting = self.settings[name]
        given = self.given.get(name)
        if given is UNKNOWN:
            raise ProviderError(
                f"{name} is not known yet, but the provider needs it to connect to Azure."
            )
        from_environment = (self.environment.get(variable) for variable in setting.variables)
        value = str(given or next(filter(None, from_environment), ""))
        if value and not _fits(setting, value):
            variables = "".join(f", or {variable}" for variable in setting.variables)
            raise ProviderError(
                f"{name} must be {setting.expected}: correct {self.provider}:{name}{variables}."
            )
        return value or self._of_the_cli(name) or setting.default

    def settle(self) -> None:
        """Gets the settings of the Azure CLI, which are cached."""
        for name in _OF_THE_CLI:
            self.text(name)

    def required(self, name: str) -> str:
        if value := self.text(name):
            return value
        setting = self.settings[name]
        raise ProviderError(
            f"{name} is required to connect to Azure: run `pulumi config set "
            f"{self.provider}:{name}{' --secret' if setting.is_secret else ''}`, or set "
            f"{setting.variables[0]}{_OR_SIGN_IN if name in _OF_THE_CLI else ''}."
        )

    def masked(self, words: str) -> str:
        """Returns a server's message, without the secrets that it may repeat."""
        secrets = [self.text(name) for name, setting in self.settings.items() if setting.is_secret]
        return Masking(secrets).masked(words)

    def is_on(self, name: str) -> bool:
        return _SWITCHES[self.text(name).lower()]

    def _of_the_cli(self, name: str) -> str:
        """Returns a setting of the Azure CLI, if the provider signs in with it."""
        if name not in _OF_THE_CLI:
            return ""
        if self.is_on("useOidc") or self.is_on("useMsi"):
            return ""
        if self.text("clientCertificatePath") or self.text("clientSecret"):
            return ""
        return _cli_account(shutil.which("az", path=self.environment.get("PATH", ""))).get(name, "")


@cache
def _cli_account(program: str | None) -> Mapping[str, str]:
    """Returns the settings in the Azure CLI's account; empty if it is not signed in."""
    if program is None:
        return {}
    try:
        result = subprocess.run(
            [program, "account", "show", "--output", "json"],
            capture_output=True,
            text=True,
            timeout=_CLI_SECONDS,
            check=True,
        )
        account = json.loads(result.stdout)
        return {name: read(account) for name, read in _OF_THE_CLI.items()}
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return {}


def setting_mistakes(
    given: Mapping[str, Any], settings: Mapping[str, Setting]
) -> Iterator[Mistake]:
    """Yields all mistakes in a configuration. The engine passes only strings."""
    for name in sorted(given.keys() - _OF_THE_ENGINE):
        value, setting = given[name], settings.get(name)
        if setting is None:
            yield Mistake(name, f"is not a setting: use one of {', '.join(settings)}")
        elif value is None or value is UNKNOWN or value == "":
            continue
        elif not setting.is_switch and not isinstance(value, str):
            yield Mistake(name, "must be a string")
        elif not _fits(setting, str(value)):
            yield Mistake(name, f"must be {setting.expected}")


def _fits(setting: Setting, value: str) -> bool:
    if setting.is_switch:
        return value.lower() in _SWITCHES
    return re.fullmatch(setting.pattern, value, re.DOTALL) is not None
