"""A cluster's kinds, and its objects, which are written by server-side apply."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kube.client import APPLY, CONFLICT, NOT_FOUND, ApiError, Client
from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.objects import (
    PATCH_FORCE,
    Object,
    is_enabled,
    name_of,
    namespace_of,
    wired,
)

# Another resource of the same update may create the namespace or the kind meanwhile.
_SECONDS_BEFORE_TRIES = (0.25, 0.5, 1.0, 2.0)

# Field managers whose fields are taken over without a conflict: kubectl and Pulumi.
_ADOPTED = ("before-first-apply", "kubectl", "pulumi-kubernetes", "pulumi-resource-kubernetes")
_MANAGER = re.compile(r'conflict with "(?P<name>[^"]+)"')

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

    @property
    def qualified(self) -> str:
        """The name in the server's messages, such as `daemonsets.apps`."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.plural}.{group}" if group else self.plural


class Cluster:
    """A reachable cluster. Its methods raise ApiError if the server refuses."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self.namespace = namespace
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

    async def create(
        self, inputs: Object, manager: str, rest: Callable[[float], Awaitable[None]]
    ) -> Object:
        for seconds in _SECONDS_BEFORE_TRIES:
            try:
                return await self._create(inputs, manager)
            except NoMatchError:
                pass
            except ApiError as error:
                if not is_missing_namespace(error):
                    raise
            await rest(seconds)
        return await self._create(inputs, manager)

    async def update(self, inputs: Object, manager: str, *, is_preview: bool) -> Object:
        # An apply would silently create an object that was deleted.
        await self._client.get(await self._path(inputs))
        return await self.apply(inputs, manager, is_preview=is_preview)

    async def apply(self, inputs: Object, manager: str, *, is_preview: bool = False) -> Object:
        """Applies an object; returns it as the server stores it, or would in a preview."""
        force = is_enabled(inputs, PATCH_FORCE)
        try:
            return await self._send(inputs, manager, is_preview=is_preview, force=force)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            if not force and _are_adopted(error):
                return await self._send(inputs, manager, is_preview=is_preview, force=True)
            raise ProviderError(
                f"Server-Side Apply field conflict detected. See {_CONFLICTS_EXPLAINED} for "
                "troubleshooting help.\nThe resource managed by field manager "
                f'"{manager}" had an apply conflict: {error}\nThe annotation '
                f'{PATCH_FORCE}: "true" takes the fields over.'
            ) from error

    async def delete(self, inputs: Object) -> None:
        """Starts the deletion; dependent objects are deleted first."""
        await self._client.delete(await self._path(inputs), propagationPolicy="Foreground")

    async def _create(self, inputs: Object, manager: str) -> Object:
        # An apply would take over an existing object.
        if await self.get(inputs) is not None:
            kind = await self.kind_of(inputs)
            raise ProviderError(f'{kind.qualified} "{name_of(inputs)}" already exists')
        return await self.apply(inputs, manager)

    async def _send(self, inputs: Object, manager: str, *, is_preview: bool, force: bool) -> Object:
        query = {"fieldManager": manager, "force": str(force).lower()}
        query |= {"dryRun": "All"} if is_preview else {}
        return await self._client.patch(await self._path(inputs), wired(inputs), APPLY, **query)

    async def _path(self, inputs: Object) -> str:
        kind = await self.kind_of(inputs)
        namespace = (
            f"/namespaces/{namespace_of(inputs) or self.namespace}" if kind.is_namespaced else ""
        )
        return f"{_root(kind.api_version)}{namespace}/{kind.plural}/{name_of(inputs)}"

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


def _are_adopted(conflict: ApiError) -> bool:
    """Whether a conflict is only with managers whose fields are taken over."""
    causes = [cause.get("message", "") for cause in conflict.details.get("causes") or []]
    managers = [match["name"] for match in map(_MANAGER.search, causes) if match]
    return bool(managers) and all(name.startswith(_ADOPTED) for name in managers)
