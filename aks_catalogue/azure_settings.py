"""azure-native's settings of the Azure cloud, subscription and identity, as of version 3.29."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

# The date of these facts.
AS_OF = date(2026, 11, 22)


@dataclass(frozen=True)
class Setting:
    """A provider setting, and the environment variables that can replace it."""

    variables: tuple[str, ...]
    description: str
    is_secret: bool = False
    default: str = ""


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "subscriptionId": Setting(
            ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"),
            "The ID of the subscription.",
        ),
        "tenantId": Setting(
            ("ARM_TENANT_ID", "AZURE_TENANT_ID"),
            "The ID of the tenant to sign in to.",
        ),
        "clientId": Setting(
            ("ARM_CLIENT_ID", "AZURE_CLIENT_ID"),
            "The ID of the service principal, or of a user-assigned managed identity.",
        ),
        "clientSecret": Setting(
            ("ARM_CLIENT_SECRET", "AZURE_CLIENT_SECRET"),
            "The secret of the service principal.",
            is_secret=True,
        ),
        "clientCertificatePath": Setting(
            ("ARM_CLIENT_CERTIFICATE_PATH", "AZURE_CLIENT_CERTIFICATE_PATH"),
            "The path of the service principal's certificate with its key, in PEM or PKCS12.",
        ),
        "clientCertificatePassword": Setting(
            ("ARM_CLIENT_CERTIFICATE_PASSWORD", "AZURE_CLIENT_CERTIFICATE_PASSWORD"),
            "The password of the certificate.",
            is_secret=True,
        ),
        "useOidc": Setting(
            ("ARM_USE_OIDC",),
            "Sign in with a token of another issuer (OIDC).",
        ),
        "oidcToken": Setting(("ARM_OIDC_TOKEN",), "The OIDC token.", is_secret=True),
        "oidcTokenFilePath": Setting(
            ("ARM_OIDC_TOKEN_FILE_PATH", "AZURE_FEDERATED_TOKEN_FILE"),
            "The path of a file with the OIDC token, which is read for each sign-in.",
        ),
        "oidcRequestUrl": Setting(
            ("ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"),
            "The URL to request the OIDC token from, as on GitHub's runners.",
        ),
        "oidcRequestToken": Setting(
            ("ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
            "The bearer token for that request.",
            is_secret=True,
        ),
        "useMsi": Setting(
            ("ARM_USE_MSI",),
            "Sign in as the managed identity of the VM; clientId selects one of several.",
        ),
        "metadataHost": Setting(
            ("ARM_METADATA_HOSTNAME",),
            "The host with the metadata of the Azure cloud. The default is the public cloud.",
        ),
        "environment": Setting(
            ("ARM_ENVIRONMENT",),
            "`public`, `usgovernment` or `china`. metadataHost has precedence.",
            default="public",
        ),
    }
)
