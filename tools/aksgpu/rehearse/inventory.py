"""The current state of a stack's resources, read from the rehearsal cloud and its clusters."""

import asyncio
import http.client
import json
import ssl
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from aks_catalogue.nodes import INLINE_POOLS
from aks_catalogue.shapes import at
from aksgpu.check.api import opened
from aksgpu.outcome import StoppedError
from aksgpu.rehearse.state import State
from aksgpu.report import ReportTable, table
from kube_client.client import ApiError, Client
from kube_client.kubeconfig import Kubeconfig
from rehearsal.cloud import Cloud, CloudError

# API versions by the provider in an id; a resource group's id has none.
_VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "": "2025-04-01",
        "microsoft.containerservice": "2025-09-01",
        "microsoft.features": "2021-07-01",
        "microsoft.resources": "2025-04-01",
    }
)
_SECONDS = 30
_MISSING = "does not exist"
_NOT_KNOWN = "unknown: the cluster does not answer"


def resources(
    state: State, cloud: Cloud, kubeconfig: Kubeconfig | None, environment: Mapping[str, str]
) -> list[list[str]]:
    """A row with the current state of each resource that the stack created."""
    azure = [each for each in state.created if each["id"].startswith("/")]
    objects = [each for each in state.created if each["type"].startswith("kubernetes:")]
    current = _read(cloud, azure)
    pools = {each["id"].lower() for each in azure if _kind(each) == "AgentPool"}
    return [
        *(
            row
            for resource, body in zip(azure, current, strict=True)
            for row in (_azure_row(resource, body), *_inline_rows(resource, body or {}, pools))
        ),
        *asyncio.run(_objects(objects, kubeconfig, environment)),
    ]


def has_lost_clusters(state: State, cloud: Cloud) -> bool:
    """Whether a cluster that the stack created does not exist any more."""
    clusters = [each for each in state.created if _kind(each) == "ManagedCluster"]
    return None in (_read(cloud, clusters) if clusters else ())


def as_table(title: str, rows: Sequence[Sequence[str]]) -> ReportTable:
    # In three columns it fits a terminal of 80.
    result = table("type", "name, size and nodes", "state", title=title)
    for kind, name, size, nodes, state in rows:
        result.add_row(kind, "  ".join(filter(None, [name, size, nodes])), state)
    return result


def _azure_row(resource: Mapping[str, Any], body: Mapping[str, Any] | None) -> list[str]:
    kind, name = _kind(resource), resource["id"].rpartition("/")[2]
    if body is None:
        return [kind, name, "", "", _MISSING]
    properties = body.get("properties") or {}
    state = properties.get("provisioningState") or properties.get("state") or ""
    return [kind, name, properties.get("vmSize", ""), _nodes(properties), state]


def _inline_rows(
    cluster: Mapping[str, Any], body: Mapping[str, Any], pools: Collection[str]
) -> Iterator[list[str]]:
    """A row for each pool in a cluster's list that is no resource of its own."""
    for pool in at(body, f"properties.{INLINE_POOLS}") or ():
        if f"{cluster['id']}/agentPools/{pool['name']}".lower() not in pools:
            state = pool.get("provisioningState") or ""
            yield ["inline pool", pool["name"], pool.get("vmSize", ""), _nodes(pool), state]


def _nodes(properties: Mapping[str, Any]) -> str:
    if "count" not in properties:
        return ""
    bounds = ""
    if properties.get("enableAutoScaling"):
        bounds = f" ({properties['minCount']} to {properties['maxCount']})"
    return f"{properties['count']}{bounds}"


def _read(cloud: Cloud, resources: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """The bodies of ARM's responses; None for a resource that does not exist."""
    address = urlsplit(cloud.url)
    trust = ssl.create_default_context(cafile=str(cloud.ca_certificate))
    connection = http.client.HTTPSConnection(
        str(address.hostname), address.port, timeout=_SECONDS, context=trust
    )
    try:
        form = {
            "grant_type": "client_credentials",
            "client_id": cloud.client_id,
            "client_secret": cloud.client_secret,
            "resource": cloud.url,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", f"/{cloud.tenant}/oauth2/token", urlencode(form), headers)
        token = json.load(connection.getresponse())["access_token"]
        return [_get(connection, token, each["id"]) for each in resources]
    except (OSError, ValueError, LookupError, http.client.HTTPException) as error:
        raise CloudError(f"The rehearsal's server gave no valid response: {error}") from None
    finally:
        connection.close()


def _get(
    connection: http.client.HTTPSConnection, token: str, resource_id: str
) -> Mapping[str, Any] | None:
    namespace = resource_id.lower().rpartition("/providers/")[2].partition("/")[0]
    version = _VERSIONS.get(namespace, _VERSIONS[""])
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", f"{quote(resource_id)}?api-version={version}", headers=headers)
    response = connection.getresponse()
    content = response.read()
    if response.status == 404:
        return None
    # Of other types, the server may know no such version: they are there, and no more is shown.
    body: Mapping[str, Any] = json.loads(content) if response.status == 200 else {}
    return body


async def _objects(
    objects: Sequence[Mapping[str, Any]],
    kubeconfig: Kubeconfig | None,
    environment: Mapping[str, str],
) -> list[list[str]]:
    rows = [[_kind(each), each["id"].rpartition("/")[2], "", ""] for each in objects]
    if not objects or kubeconfig is None:
        return [[*row, _NOT_KNOWN] for row in rows]
    try:
        async with opened(kubeconfig, environment) as api:
            states = [await _state_of_object(api, each) for each in objects]
    except StoppedError:
        states = [_NOT_KNOWN] * len(objects)
    return [[*row, state] for row, state in zip(rows, states, strict=True)]


async def _state_of_object(api: Client, resource: Mapping[str, Any]) -> str:
    if _kind(resource) == "Release":
        return await _state_of_release(api, *resource["id"].split("/"))
    outputs = resource["outputs"]
    version, metadata = outputs["apiVersion"], outputs["metadata"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    try:
        kinds = (await api.get(base))["resources"]
        plural = next(each["name"] for each in kinds if each["kind"] == outputs["kind"])
        namespace = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
        current = await api.get(f"{base}{namespace}/{plural}/{metadata['name']}")
    except (ApiError, StopIteration):
        return _MISSING
    return _short_state(current.get("status") or {})


async def _state_of_release(api: Client, namespace: str, name: str) -> str:
    """The state of a Helm release, which is no object: Helm keeps each revision in a secret."""
    path = f"/api/v1/namespaces/{namespace}/secrets"
    try:
        secrets = await api.list(path, labelSelector=f"owner=helm,name={name}")
    except ApiError:
        return _MISSING
    revisions = [secret["metadata"]["labels"] for secret in secrets]
    newest = max(revisions, key=lambda labels: int(labels["version"]), default=None)
    return newest["status"] if newest else _MISSING


def _short_state(status: Mapping[str, Any]) -> str:
    """The state of an object in a word or two; empty if it has none."""
    if "desiredNumberScheduled" in status:
        return f"{status.get('numberReady', 0)} of {status['desiredNumberScheduled']} ready"
    if "replicas" in status:
        return f"{status.get('readyReplicas', 0)} of {status['replicas']} ready"
    conditions = status.get("conditions") or ()
    met = [each["type"] for each in conditions if each.get("status") == "True"]
    return str(status.get("phase") or (met[-1] if met else ""))


def _kind(resource: Mapping[str, Any]) -> str:
    return str(resource["type"].rpartition(":")[2])
