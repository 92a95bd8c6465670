"""The token of another issuer that stands for a secret, wherever it is to be had."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from azure.core import PipelineClient
from azure.core.exceptions import AzureError
from azure.core.rest import HttpRequest, HttpResponse

from provider_kit.configuration import Configuration
from provider_kit.serving import ProviderError

# Entra ID takes only tokens that were made for this audience.
_AUDIENCE = "api://AzureADTokenExchange"


def assertion(configuration: Configuration) -> Callable[[], str]:
    """Gives the token, anew at every call: it lives shorter than an update."""
    if token := configuration.text("oidcToken"):
        return lambda: token
    if path := configuration.text("oidcTokenFilePath"):
        return lambda: _from_file(Path(path))
    if url := configuration.text("oidcRequestUrl"):
        bearer = configuration.required("oidcRequestToken")
        return lambda: _requested(url, bearer)
    raise ProviderError(
        "useOidc is on, but there is no token: set oidcToken (ARM_OIDC_TOKEN), oidcTokenFilePath "
        "(ARM_OIDC_TOKEN_FILE_PATH), or oidcRequestUrl (ARM_OIDC_REQUEST_URL)."
    )


def _from_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ProviderError(f"oidcTokenFilePath cannot be read: {error}") from error


def _requested(url: str, bearer: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise ProviderError("oidcRequestUrl is not https: a token is only ever sent to https.")
    asked = parts._replace(query=urlencode([*parse_qsl(parts.query), ("audience", _AUDIENCE)]))
    request = HttpRequest("GET", asked.geturl(), headers={"Authorization": f"Bearer {bearer}"})
    try:
        with PipelineClient[HttpRequest, HttpResponse](
            f"{parts.scheme}://{parts.netloc}"
        ) as client:
            answer = client.send_request(request)
            answer.raise_for_status()
            return str(answer.json()["value"])
    except (AzureError, LookupError, TypeError, ValueError) as error:
        raise ProviderError(
            f"{parts.netloc} gave no OIDC token ({type(error).__name__})."
        ) from error
