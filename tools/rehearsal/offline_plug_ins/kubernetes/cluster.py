"""A cluster's kinds, and its objects: created as they are, and updated by server-side apply."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kube_client.client import APPLY, CONFLICT, NOT_FOUND, ApiError, Client
from provider_kit.serving import ProviderError
from rehearsal.offline_plug_ins.kubernetes.objects import (
    PATCH_FORCE,
    Object,
    is_enabled,
    metadata,
    name_of,
    namespace_of,
    wired,
)

# Another resource of the same update may create the namespace or the kind meanwhile.
_SECONDS_BEFORE_TRIES = (0.25, 0.5, 1.0, 2.0)

# The field manager of a new object. The first update takes its fields over.
_CREATOR = "pulumi-kubernetes"
_CREATORS = (_CREATOR, "pulumi-kubernetes.exe", "pulumi-resource-kubernetes")
# How the field managers begin whose fields an update takes over, by operation.
_TAKEN_OVER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"Apply": ("kubectl",), "Update": ("kubectl", "before-first-apply", *_CREATORS)}
)

_CONFLICTS_EXPLAINED = (
    "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/"
    "managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources"
)


class NoMatchError(ProviderError):
    """The server has no such kind."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


@dataclass(frozen=True)
class Kind:
    """A kind of the server."""

    api_version: str
    plural: str
    is_namespaced: bool


class Cluster:
    """A reachable cluster. Its methods raise ApiError if the server refuses."""

    def __init__(self, client: Client, namespace: str, *, patches_by_force: bool = False) -> None:
        self._client = client
        self.namespace = namespace
        self._patches_by_force = patches_by_force
        self._kinds: dict[tuple[str, str], Kind] = {}

    async def close(self) -> None:
        await self._client.close()

    async def kind_of(self, inputs: Object) -> Kind:
        """Returns the kind of an object. A missing kind is looked up again next time."""
        api_version, kind = inputs["apiVersion"], inputs["kind"]
        if (api_version, kind) not in self._kinds:
            await self._discover(api_version)
        try:
            return self._kinds[api_version, kind]
        except KeyError:
            raise NoMatchError(api_version, kind) from None

    async def get(self, inputs: Object) -> Object | None:
        """Returns the live object; None if it does not exist."""
        try:
            return await self._client.get(await self._path(inputs))
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    async def list_beside(self, live: Object, kind: str, **query: str) -> list[Object]:
        """Returns objects of the core group in the namespace of another object."""
        namespace = namespace_of(live) or "default"
        return await self._client.list(f"/api/v1/namespaces/{namespace}/{kind}", **query)

    async def create(self, inputs: Object, rest: Callable[[float], Awaitable[None]]) -> Object:
        for seconds in _SECONDS_BEFORE_TRIES:
            try:
                return await self.post(inputs)
            except NoMatchError:
                pass
            except ApiError as error:
                if not is_missing_namespace(error):
                    raise
            await rest(seconds)
        return await self.post(inputs)

    async def post(self, inputs: Object, *, is_preview: bool = False) -> Object:
        """Creates an object; returns it as the server stores it, or would in a preview."""
        path = await self._collection(inputs)
        query = {"fieldManager": _CREATOR} | _dry_run(is_preview=is_preview)
        return await self._client.post(path, wired(inputs), **query)

    async def update(self, inputs: Object, manager: str, *, is_preview: bool) -> Object:
        path = await self._path(inputs)
        # An apply would silently create an object that was deleted.
        live = await self._client.get(path)
        if not is_preview:
            handed_over = {
                "managedFields": _handed_over(_managed_fields(live), manager),
                "resourceVersion": live["metadata"]["resourceVersion"],
            }
            await self._client.patch(path, {"metadata": handed_over})
        force = (
            self._patches_by_force
            or is_enabled(inputs, PATCH_FORCE)
            or (is_preview and _is_as_created(live))
        )
        query = {"fieldManager": manager, "force": str(force).lower()}
        query |= _dry_run(is_preview=is_preview)
        try:
            return await self._client.patch(path, wired(inputs), APPLY, **query)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            raise ProviderError(
                f"server-side apply field conflict detected, see {_CONFLICTS_EXPLAINED} for "
                "troubleshooting help\nThe resource managed by field manager "
                f'"{manager}" had an apply conflict: {error}'
            ) from error

    async def delete(self, inputs: Object) -> None:
        """Starts the deletion; dependent objects are deleted first."""
        await self._client.delete(await self._path(inputs), propagationPolicy="Foreground")

    async def _collection(self, inputs: Object) -> str:
        kind = await self.kind_of(inputs)
        namespace = (
            f"/namespaces/{namespace_of(inputs) or self.namespace}" if kind.is_namespaced else ""
        )
        return f"{_root(kind.api_version)}{namespace}/{kind.plural}"

    async def _path(self, inputs: Object) -> str:
        return f"{await self._collection(inputs)}/{name_of(inputs)}"

    async def _discover(self, api_version: str) -> None:
        try:
            response = await self._client.get(_root(api_version))
        except ApiError as error:
            if error.status == NOT_FOUND:
                return
            raise
        for resource in response.get("resources", []):
            # Names with a slash are subresources, such as `daemonsets/status`.
            if "/" not in resource["name"]:
                self._kinds[api_version, resource["kind"]] = Kind(
                    api_version, resource["name"], resource["namespaced"]
                )


def is_missing_namespace(error: ApiError) -> bool:
    return error.status == NOT_FOUND and error.details.get("kind") == "namespaces"


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _dry_run(*, is_preview: bool) -> dict[str, str]:
    return {"dryRun": "All"} if is_preview else {}


def _managed_fields(live: Object) -> list[Object]:
    return list(metadata(live).get("managedFields") or ())


def _is_as_created(live: Object) -> bool:
    """Whether Pulumi has not updated an object yet: a preview then shows what an update will do."""
    return any(
        entry["operation"] == "Update" and entry["manager"] in _CREATORS
        for entry in _managed_fields(live)
    )


def _handed_over(entries: list[Object], manager: str) -> list[Object]:
    """Returns an object's managed fields, with those that an update takes over as the manager's.

    Its apply then also removes those that it does not have.
    """
    kept: list[Object] = []
    own: Object | None = None
    for entry in entries:
        is_own = (entry["manager"], entry["operation"]) == (manager, "Apply")
        is_taken = entry["manager"].startswith(_TAKEN_OVER[entry["operation"]])
        if (is_own or is_taken) and not entry.get("subresource"):
            fields = _united(own["fieldsV1"] if own else {}, entry["fieldsV1"])
            own = {**entry, "manager": manager, "operation": "Apply", "fieldsV1": fields}
        else:
            kept.append(entry)
    return [*kept, own] if own else kept


def _united(fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _united(fields.get(name, {}), more.get(name, {})) for name in {**fields, **more}}
