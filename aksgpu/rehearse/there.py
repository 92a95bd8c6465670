"""What a rehearsal cloud and its clusters have of a stack: each is asked for by its id."""

import asyncio
import http.client
import json
import ssl
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from aksgpu.check.api import opened
from aksgpu.outcome import StoppedError
from aksgpu.rehearse.state import State
from aksgpu.report import ReportTable, table
from kube.client import ApiError, Client
from kube.kubeconfig import Kubeconfig
from rehearsal.cloud import Cloud, CloudError

# By the provider in an id; a resource group's id has none.
_VERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "": "2025-04-01",
        "microsoft.containerservice": "2025-09-01",
        "microsoft.features": "2021-07-01",
        "microsoft.resources": "2025-04-01",
    }
)
_SECONDS = 30
_GONE = "not there"
_NOT_ASKED = "not asked: the cluster does not answer"


def resources(
    state: State, cloud: Cloud, kubeconfig: Kubeconfig | None, environment: Mapping[str, str]
) -> list[list[str]]:
    """A row for each resource that the stack has made, as it is now."""
    azure = [one for one in state.made if one["id"].startswith("/")]
    objects = [one for one in state.made if one["type"].startswith("kubernetes:")]
    return [
        *(_row_of_azure(one, found) for one, found in zip(azure, _ask(cloud, azure), strict=True)),
        *asyncio.run(_objects(objects, kubeconfig, environment)),
    ]


def has_lost_clusters(state: State, cloud: Cloud) -> bool:
    """Whether a cluster that the stack has made is not there any more."""
    clusters = [one for one in state.made if _kind(one) == "ManagedCluster"]
    return None in (_ask(cloud, clusters) if clusters else ())


def as_table(title: str, rows: Sequence[Sequence[str]]) -> ReportTable:
    shown = table("type", "name", "size", "nodes", "state", title=title)
    for row in rows:
        shown.add_row(*row)
    return shown


def _row_of_azure(resource: Mapping[str, Any], found: Mapping[str, Any] | None) -> list[str]:
    kind, name = _kind(resource), resource["id"].rpartition("/")[2]
    if found is None:
        return [kind, name, "", "", _GONE]
    told = found.get("properties") or {}
    state = told.get("provisioningState") or told.get("state") or ""
    return [kind, name, told.get("vmSize", ""), _nodes(told), state]


def _nodes(told: Mapping[str, Any]) -> str:
    if "count" not in told:
        return ""
    between = (
        f" ({told['minCount']} to {told['maxCount']})" if told.get("enableAutoScaling") else ""
    )
    return f"{told['count']}{between}"


def _ask(cloud: Cloud, asked: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """What ARM answers of each; None for what is not there."""
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
        return [_of_arm(connection, token, one["id"]) for one in asked]
    except (OSError, ValueError, LookupError, http.client.HTTPException) as error:
        raise CloudError(f"The rehearsal's server does not answer as it should: {error}") from None
    finally:
        connection.close()


def _of_arm(
    connection: http.client.HTTPSConnection, token: str, resource_id: str
) -> Mapping[str, Any] | None:
    namespace = resource_id.lower().rpartition("/providers/")[2].partition("/")[0]
    version = _VERSIONS.get(namespace, _VERSIONS[""])
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", f"{quote(resource_id)}?api-version={version}", headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    found: Mapping[str, Any] | None = json.loads(content) if answer.status == 200 else None
    return found


async def _objects(
    asked: Sequence[Mapping[str, Any]],
    kubeconfig: Kubeconfig | None,
    environment: Mapping[str, str],
) -> list[list[str]]:
    rows = [[_kind(one), one["id"].rpartition("/")[2], "", ""] for one in asked]
    if not asked or kubeconfig is None:
        return [[*row, _NOT_ASKED] for row in rows]
    try:
        async with opened(kubeconfig, environment) as api:
            states = [await _state_of_object(api, one) for one in asked]
    except StoppedError:
        states = [_NOT_ASKED] * len(asked)
    return [[*row, state] for row, state in zip(rows, states, strict=True)]


async def _state_of_object(api: Client, resource: Mapping[str, Any]) -> str:
    told = resource["outputs"]
    version, metadata = told["apiVersion"], told["metadata"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    try:
        kinds = (await api.get(base))["resources"]
        plural = next(one["name"] for one in kinds if one["kind"] == told["kind"])
        place = f"/namespaces/{metadata['namespace']}" if metadata.get("namespace") else ""
        found = await api.get(f"{base}{place}/{plural}/{metadata['name']}")
    except (ApiError, StopIteration):
        return _GONE
    return _in_words(found.get("status") or {})


def _in_words(status: Mapping[str, Any]) -> str:
    """The state of an object, in a word or two; nothing of those that have none."""
    if "desiredNumberScheduled" in status:
        return f"{status.get('numberReady', 0)} of {status['desiredNumberScheduled']} ready"
    ended = [one["type"] for one in status.get("conditions") or () if one.get("status") == "True"]
    return str(status.get("phase") or (ended[-1] if ended else ""))


def _kind(resource: Mapping[str, Any]) -> str:
    return str(resource["type"].rpartition(":")[2])
