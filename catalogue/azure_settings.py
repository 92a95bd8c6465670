"""The settings of azure-native that say where it works and as whom, as of azure-native 3.29."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

# When the facts here were true.
AS_OF = date(2026, 11, 22)


@dataclass(frozen=True)
class Setting:
    """One setting: the environment variables that stand for it, and what it says."""

    variables: tuple[str, ...]
    description: str
    is_secret: bool = False
    is_switch: bool = False
    default: str = ""
    # What every value looks like, and that in words.
    pattern: str = ".*"
    has_to_be: str = ""


_ID = "[0-9A-Za-z_-]+"
_AN_ID = "00000000-0000-0000-0000-000000000000"
_HOST = r"([0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?"

SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "subscriptionId": Setting(
            ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"),
            "The id of the subscription.",
            pattern=_ID,
            has_to_be=f"the id of a subscription, such as `{_AN_ID}`",
        ),
        "tenantId": Setting(
            ("ARM_TENANT_ID", "AZURE_TENANT_ID"),
            "The id of the tenant that one signs in to.",
            pattern=rf"{_ID}(\.{_ID})*",
            has_to_be=f"the id of a tenant, such as `{_AN_ID}`, or its domain",
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
            pattern=rf"https://{_HOST}([/?][!-~]*)?",
            has_to_be="a URL that begins with `https://`: tokens are only sent to https",
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
            pattern=_HOST,
            has_to_be="the name of a host, such as `management.local.azurestack.external`",
        ),
        "environment": Setting(
            ("ARM_ENVIRONMENT",),
            "`public`, `usgovernment` or `china`; metadataHost goes before it.",
            default="public",
        ),
    }
)
