"""The API server of one cluster, through the official Python client's asynchronous half.

Its dynamic client is not used: that keeps what it discovers in a file in /tmp, by the server's
address, and clusters on loopback take each other's addresses.
"""

import asyncio
import base64
import binascii
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from kubernetes.aio.client import ApiClient
from kubernetes.aio.config import ConfigException, new_client_from_config_dict

from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.kubeconfig import Chosen, KubeconfigError
from rehearsal.stand_ins.kubernetes.objects import Object, name_of, namespace_of

_SECONDS_FOR_A_REQUEST = 60
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class ApiError(ProviderError):
    """A refusal, in the API server's own words."""

    def __init__(self, code: int, status: Mapping[str, Any]) -> None:
        super().__init__(status.get("message") or f"the server answered {code}")
        self.code = code
        self.reason: str = status.get("reason") or ""
        self.details: Mapping[str, Any] = status.get("details") or {}

    @property
    def is_missing_namespace(self) -> bool:
        return self.code == 404 and self.details.get("kind") == "namespaces"


class NoMatchError(ProviderError):
    """The server has no such kind."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


class ConnectionFailedError(ProviderError):
    """The server did not answer."""


@dataclass(frozen=True)
class Kind:
    """A kind as the server knows it."""

    api_version: str
    plural: str
    is_namespaced: bool

    @property
    def qualified(self) -> str:
        """The name that the server's messages use, as `daemonsets.apps`."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.plural}.{group}" if group else self.plural


class Cluster:
    """A reachable cluster."""

    def __init__(self, client: ApiClient, namespace: str) -> None:
        self._client = client
        self.namespace = namespace
        self._kinds: dict[tuple[str, str], Kind] = {}

    async def kind_of(self, asked: Object) -> Kind:
        """The kind of an object; what is not found is asked for again the next time."""
        api_version, kind = asked["apiVersion"], asked["kind"]
        if (api_version, kind) not in self._kinds:
            await self._discover(api_version)
        try:
            return self._kinds[api_version, kind]
        except KeyError:
            raise NoMatchError(api_version, kind) from None

    async def path_of(self, asked: Object, *, collection: bool = False) -> str:
        """Where an object is, or the collection that it is in."""
        kind = await self.kind_of(asked)
        namespace = (
            f"/namespaces/{namespace_of(asked) or self.namespace}" if kind.is_namespaced else ""
        )
        path = f"{_root(kind.api_version)}{namespace}/{kind.plural}"
        return path if collection else f"{path}/{name_of(asked)}"

    async def get(self, asked: Object) -> Object:
        return await self.request("GET", await self.path_of(asked))

    async def get_if_there(self, asked: Object) -> Object | None:
        try:
            return await self.get(asked)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Object:
        """One request, and the object in its answer."""
        serialized = await self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json", "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            answer = await self._client.call_api(
                *serialized, _request_timeout=_SECONDS_FOR_A_REQUEST
            )
            content = await answer.read()  # type: ignore[no-untyped-call]
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            address = f"{self._client.configuration.host}{path}"
            raise ConnectionFailedError(f'{method.title()} "{address}": {_cause(error)}') from error
        told = _json(content)
        if not 200 <= answer.status < 300:
            raise ApiError(answer.status, told)
        return told

    async def close(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _discover(self, api_version: str) -> None:
        try:
            found = await self.request("GET", _root(api_version))
        except ApiError as error:
            if error.code == 404:
                return
            raise
        for resource in found.get("resources", []):
            # Those with a slash are parts of others, as `daemonsets/status`.
            if "/" not in resource["name"]:
                self._kinds[api_version, resource["kind"]] = Kind(
                    api_version, resource["name"], resource["namespaced"]
                )


async def connect(chosen: Chosen) -> Cluster:
    """A cluster that has answered; KubeconfigError and ProviderError say why there is none."""
    # The client reads certificates and keys from files only. It has read them when it is made.
    with tempfile.TemporaryDirectory(prefix="kubeconfig-") as folder:
        config = {
            "current-context": "chosen",
            "contexts": [
                {"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}},
            ],
            "clusters": [{"name": "chosen", "cluster": _on_disk(chosen.cluster, Path(folder))}],
            "users": [{"name": "chosen", "user": _on_disk(chosen.user, Path(folder))}],
        }
        try:
            client = await new_client_from_config_dict(config, temp_file_path=folder)  # type: ignore[no-untyped-call]
        except (ConfigException, OSError) as error:
            raise KubeconfigError(f"invalid configuration: {error}") from error
    if urlsplit(chosen.cluster["server"]).hostname in _LOOPBACK:
        # As kubectl does: never through a proxy to this machine itself.
        client.configuration.client_session_kwargs = {"trust_env": False}
    cluster = Cluster(client, chosen.namespace)
    try:
        await cluster.request("GET", "/version")
    except ProviderError:
        await cluster.close()
        raise
    return cluster


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _on_disk(part: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A part of a kubeconfig, with files in place of the contents in it."""
    result = dict(part)
    for name in [name for name in part if name.endswith("-data")]:
        file = folder / name
        try:
            file.write_bytes(base64.b64decode(result.pop(name), validate=False))
        except (binascii.Error, TypeError, ValueError):
            raise KubeconfigError(f"invalid configuration: {name} is not base64") from None
        result[name.removesuffix("-data")] = str(file)
    return result


def _json(content: bytes) -> Object:
    try:
        told = json.loads(content)
    except ValueError:
        return {"message": content.decode("utf-8", "replace").strip()}
    return told if isinstance(told, dict) else {}


def _cause(error: BaseException) -> str:
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"dial tcp {error.host}:{error.port}: connect: {_words_of(error.os_error)}"
    return str(error) or type(error).__name__


def _words_of(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)
