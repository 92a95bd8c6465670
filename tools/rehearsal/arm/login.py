"""What clients need before they have a token: discovery of the cloud, its keys, and tokens."""

import datetime
import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from aiohttp import web

from rehearsal.arm import errors
from rehearsal.arm.home import Principal
from rehearsal.arm.request import Json
from rehearsal.arm.tokens import FEDERATION, LIFETIME, SERVER_APPLICATION, Issuer

CLOUD_NAME = "rehearsal"
# These API versions return a list of clouds; newer ones return one cloud.
VERSIONS_THAT_LIST = ("2019-05-01", "2020-06-01")
# Clients build the authority from the login endpoint and the tenant, and both are `adfs`: some use
# /adfs, some /adfs/adfs, and some append v2.0.
DISCOVERY = re.compile(r"/adfs(/adfs)?(/v2\.0)?/\.well-known/openid-configuration")
TOKEN = re.compile(r"/adfs(/adfs)?/oauth2(/v2\.0)?/token/?")
GRAPH = "/graph"

# Refusals of the token endpoint: status, OAuth error, AADSTS number, message.
WRONG_GRANT = (400, "unsupported_grant_type", 70003, "The grant type is not supported here.")
UNKNOWN_CLIENT = (400, "unauthorized_client", 700016, "The application was not found.")
WRONG_SECRET = (401, "invalid_client", 7000215, "Invalid client secret provided.")
WRONG_ASSERTION = (401, "invalid_client", 700213, "No matching federated identity record found.")
UNKNOWN_RESOURCE = (400, "invalid_resource", 500011)


@dataclass(frozen=True)
class Login:
    principal: Principal
    issuer: Issuer
    audience: str

    def answer(self, request: web.Request, content: bytes) -> web.Response | None:
        """Serves a request that needs no token; returns None for any other."""
        origin = f"https://{request.host}"
        path, method = request.path, request.method
        if path.startswith(f"{GRAPH}/"):
            what = f"Microsoft Graph, with its users and service principals: {method} {path}"
            raise errors.ArmError(errors.NOT_REHEARSED, what=what)
        if method == "POST" and TOKEN.fullmatch(path):
            # A body that is not such a form has none of the parameters.
            form = parse_qsl(content.decode("utf-8", "replace"))
            return self._token(dict(form), f"{origin}/adfs")
        if method != "GET":
            return None
        if path == "/metadata/endpoints":
            endpoints = cloud(origin)
            is_list = request.query.get("api-version") in VERSIONS_THAT_LIST
            return web.json_response([endpoints] if is_list else endpoints)
        if path == "/adfs/discovery/keys":
            return web.json_response(self.issuer.public_keys())
        if DISCOVERY.fullmatch(path):
            return web.json_response(openid_configuration(f"{origin}/adfs"))
        return None

    def _token(self, form: Mapping[str, str], issuer: str) -> web.Response:
        requested = (form.get("scope") or form.get("resource") or "").split(" ")[0]
        if form.get("grant_type") != "client_credentials":
            return _refused(*WRONG_GRANT)
        if form.get("client_id") != self.principal.client_id:
            return _refused(*UNKNOWN_CLIENT)
        if (refusal := self._wrong_proof(form)) is not None:
            return _refused(*refusal)
        audience = requested.removesuffix("/.default").rstrip("/")
        if audience not in (self.audience, f"{self.audience}{GRAPH}", SERVER_APPLICATION):
            words = (
                f"The resource principal named {audience} was not found in the rehearsal. It has "
                f"tokens for {self.audience} and for its clusters."
            )
            return _refused(*UNKNOWN_RESOURCE, words)
        token = self.issuer.issue(self.principal, audience, issuer)
        body = {"token_type": "Bearer", "expires_in": LIFETIME, "access_token": token}
        return web.json_response(body, headers={"Cache-Control": "no-store"})

    def _wrong_proof(self, form: Mapping[str, str]) -> tuple[int, str, int, str] | None:
        """Returns the refusal of a client's secret or federated token; None if it is right."""
        if token := form.get("client_assertion"):
            try:
                self.issuer.check(f"Bearer {token}", FEDERATION)
            except errors.ArmError:
                return WRONG_ASSERTION
            return None
        secret = form.get("client_secret", "").encode()
        if not secrets.compare_digest(secret, self.principal.client_secret.encode()):
            return WRONG_SECRET
        return None


def cloud(origin: str) -> Json:
    """Returns the description of this cloud, in the form of api-version 2022-09-01.

    The suffixes belong to services that the rehearsal does not have; `.invalid` never resolves.
    """
    return {
        "name": CLOUD_NAME,
        "portal": f"{origin}/portal",
        "resourceManager": f"{origin}/",
        "authentication": {
            "loginEndpoint": f"{origin}/adfs",
            "audiences": [f"{origin}/"],
            "tenant": "adfs",
            "identityProvider": "ADFS",
        },
        "graph": f"{origin}{GRAPH}",
        "graphAudience": f"{origin}{GRAPH}",
        "graphEndpoint": f"{origin}{GRAPH}",
        "microsoftGraphResourceId": f"{origin}{GRAPH}",
        "suffixes": {
            "acrLoginServer": "azurecr.rehearsal.invalid",
            "keyVaultDns": "vault.rehearsal.invalid",
            "sqlServerHostname": "database.rehearsal.invalid",
            "storage": "storage.rehearsal.invalid",
        },
    }


def openid_configuration(issuer: str) -> Json:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth2/authorize",
        "token_endpoint": f"{issuer}/oauth2/token",
        "jwks_uri": f"{issuer}/discovery/keys",
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
        "grant_types_supported": ["client_credentials"],
        "response_types_supported": ["token"],
        "response_modes_supported": ["form_post"],
        "subject_types_supported": ["pairwise"],
        "scopes_supported": ["openid"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def _refused(status: int, error: str, number: int, words: str) -> web.Response:
    trace, correlation = str(uuid.uuid4()), str(uuid.uuid4())
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    body = {
        "error": error,
        "error_description": f"AADSTS{number}: {words} Trace ID: {trace} "
        f"Correlation ID: {correlation} Timestamp: {now}",
        "error_codes": [number],
        "timestamp": now,
        "trace_id": trace,
        "correlation_id": correlation,
    }
    return web.json_response(body, status=status)
