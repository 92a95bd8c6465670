"""What is asked of a cluster: its kinds, and the objects in it, which are applied by its server."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kube.client import APPLY, CONFLICT, NOT_FOUND, ApiError, Client
from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.objects import (
    PATCH_FORCE,
    Object,
    name_of,
    namespace_of,
    says_yes,
    wired,
)

# A namespace or a kind may be made by a resource beside the one that needs it.
_SECONDS_BEFORE_TRIES = (0.25, 0.5, 1.0, 2.0)

# Whose fields are taken over without a word: those of people at kubectl, and Pulumi's own.
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
    """A reachable cluster; ApiError has the server's refusals."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self.namespace = namespace
        self._kinds: dict[tuple[str, str], Kind] = {}

    async def close(self) -> None:
        await self._client.close()

    async def kind_of(self, asked: Object) -> Kind:
        """The kind of an object; what is not found is asked for again the next time."""
        api_version, kind = asked["apiVersion"], asked["kind"]
        if (api_version, kind) not in self._kinds:
            await self._discover(api_version)
        try:
            return self._kinds[api_version, kind]
        except KeyError:
            raise NoMatchError(api_version, kind) from None

    async def get(self, asked: Object) -> Object | None:
        """The object as it is now; None if it is not there."""
        try:
            return await self._client.get(await self._path(asked))
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    async def list_beside(self, live: Object, kind: str, **query: str) -> list[Object]:
        """Objects of the core in the namespace of another one."""
        namespace = namespace_of(live) or "default"
        return await self._client.list(f"/api/v1/namespaces/{namespace}/{kind}", **query)

    async def create(
        self, asked: Object, manager: str, rest: Callable[[float], Awaitable[None]]
    ) -> Object:
        for seconds in _SECONDS_BEFORE_TRIES:
            try:
                return await self._create(asked, manager)
            except NoMatchError:
                pass
            except ApiError as error:
                if not is_missing_namespace(error):
                    raise
            await rest(seconds)
        return await self._create(asked, manager)

    async def update(self, asked: Object, manager: str, *, is_preview: bool) -> Object:
        # What is gone is not made anew by the way.
        await self._client.get(await self._path(asked))
        return await self.apply(asked, manager, is_preview=is_preview)

    async def apply(self, asked: Object, manager: str, *, is_preview: bool = False) -> Object:
        """The object as the server makes it; in a preview, as it would make it."""
        force = says_yes(asked, PATCH_FORCE)
        try:
            return await self._send(asked, manager, is_preview=is_preview, force=force)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            if not force and _are_adopted(error):
                return await self._send(asked, manager, is_preview=is_preview, force=True)
            raise ProviderError(
                f"Server-Side Apply field conflict detected. See {_CONFLICTS_EXPLAINED} for "
                "troubleshooting help.\nThe resource managed by field manager "
                f'"{manager}" had an apply conflict: {error}\nThe annotation '
                f'{PATCH_FORCE}: "true" takes the fields over.'
            ) from error

    async def delete(self, asked: Object) -> None:
        """Asks for the deletion; an object waits for those that depend on it."""
        await self._client.delete(await self._path(asked), propagationPolicy="Foreground")

    async def _create(self, asked: Object, manager: str) -> Object:
        # To apply is to update what is there, which would take it away from whoever has it.
        if await self.get(asked) is not None:
            kind = await self.kind_of(asked)
            raise ProviderError(f'{kind.qualified} "{name_of(asked)}" already exists')
        return await self.apply(asked, manager)

    async def _send(self, asked: Object, manager: str, *, is_preview: bool, force: bool) -> Object:
        query = {"fieldManager": manager, "force": str(force).lower()}
        query |= {"dryRun": "All"} if is_preview else {}
        return await self._client.patch(await self._path(asked), wired(asked), APPLY, **query)

    async def _path(self, asked: Object) -> str:
        kind = await self.kind_of(asked)
        namespace = (
            f"/namespaces/{namespace_of(asked) or self.namespace}" if kind.is_namespaced else ""
        )
        return f"{_root(kind.api_version)}{namespace}/{kind.plural}/{name_of(asked)}"

    async def _discover(self, api_version: str) -> None:
        try:
            found = await self._client.get(_root(api_version))
        except ApiError as error:
            if error.status == NOT_FOUND:
                return
            raise
        for resource in found.get("resources", []):
            # Those with a slash are parts of others, as `daemonsets/status`.
            if "/" not in resource["name"]:
                self._kinds[api_version, resource["kind"]] = Kind(
                    api_version, resource["name"], resource["namespaced"]
                )


def is_missing_namespace(error: ApiError) -> bool:
    return error.status == NOT_FOUND and error.details.get("kind") == "namespaces"


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _are_adopted(conflict: ApiError) -> bool:
    """Whether the conflict is with nobody but those whose fields are taken over."""
    causes = [cause.get("message", "") for cause in conflict.details.get("causes") or []]
    managers = [match["name"] for match in map(_MANAGER.search, causes) if match]
    return bool(managers) and all(name.startswith(_ADOPTED) for name in managers)
