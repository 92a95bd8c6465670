"""The settings of an Azure provider, from its configuration, the environment, or the Azure CLI.

Names and environment variables are those of azure-native.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from aks_catalogue.azure_settings import SETTINGS, Setting
from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN

# The settings in the account of the Azure CLI, and its clouds that are not public.
_OF_THE_CLI = ("subscriptionId", "environment")
_CLOUDS: Mapping[str, str] = MappingProxyType(
    {"AzureChinaCloud": "china", "AzureUSGovernment": "usgovernment"}
)
# As long as the Azure SDK waits for the CLI's token.
_CLI_SECONDS = 10
_OR_SIGN_IN = ", or sign in with `az login`"


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
        from_environment = filter(None, map(self.environment.get, setting.variables))
        value = given or next(from_environment, "") or self._of_the_cli(name) or setting.default
        return str(value)

    def required(self, name: str) -> str:
        if value := self.text(name):
            return value
        setting = self.settings[name]
        raise ProviderError(
            f"{name} is required to connect to Azure: run `pulumi config set "
            f"{self.provider}:{name}{' --secret' if setting.is_secret else ''}`, or set "
            f"{setting.variables[0]}{_OR_SIGN_IN if name in _OF_THE_CLI else ''}."
        )

    def is_on(self, name: str) -> bool:
        return self.text(name).lower() in ("1", "true")

    def _of_the_cli(self, name: str) -> str:
        """Returns a setting of the Azure CLI, if the provider signs in with it."""
        if name not in _OF_THE_CLI or self.is_on("useOidc") or self.is_on("useMsi"):
            return ""
        if self.text("clientCertificatePath") or self.text("clientSecret"):
            return ""
        program = shutil.which("az", path=self.environment.get("PATH", ""))
        return _cli_account(program).get(name, "") if program else ""


@cache
def _cli_account(program: str) -> Mapping[str, str]:
    """Returns the settings in the Azure CLI's account; empty if it is not signed in."""
    command = [program, "account", "show", "--output", "json"]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=_CLI_SECONDS, check=True
        )
        account = json.loads(result.stdout)
        environment = _CLOUDS.get(account["environmentName"], "public")
        return {"subscriptionId": account["id"], "environment": environment}
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError):
        return {}
