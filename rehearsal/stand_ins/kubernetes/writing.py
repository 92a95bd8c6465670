"""Sends objects to the API server: to be applied there, or, on demand, as merge patches."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.cluster import ApiError, Cluster, NoMatchError
from rehearsal.stand_ins.kubernetes.objects import (
    DELETION_PROPAGATION,
    PATCH_FORCE,
    Object,
    annotation,
    name_of,
    says_yes,
    wired,
)
from rehearsal.stand_ins.kubernetes.settings import Settings

# A namespace or a kind may be made by a resource beside this one.
_SECONDS_BEFORE_TRIES = (0.0, 0.25, 0.5, 1.0, 2.0)

# Whose fields are taken over without a word: those of people at kubectl, and our own without
# server-side apply.
_ADOPTED = ("before-first-apply", "kubectl", "pulumi-kubernetes", "pulumi-resource-kubernetes")
_MANAGER = re.compile(r'conflict with "(?P<name>[^"]+)"')

_PROPAGATION = {"background": "Background", "orphan": "Orphan"}

_CONFLICTS_EXPLAINED = (
    "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/"
    "managing-resources-with-server-side-apply/#handle-field-conflicts-on-existing-resources"
)

Rest = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Writing:
    """How one object is written: to which cluster, and in whose name."""

    cluster: Cluster
    settings: Settings
    manager: str
    rest: Rest

    async def create(self, asked: Object) -> Object:
        return await _tried_again(lambda: self._create(asked), self.rest)

    async def rehearse_creation(self, asked: Object) -> Object:
        """What would be created, as the server says it would be; nothing is written."""
        return await self._apply(asked, {"dryRun": "All"})

    async def update(self, old: Object, new: Object, *, is_preview: bool = False) -> Object:
        query = {"dryRun": "All"} if is_preview else {}
        if self.settings.server_side_apply:
            await self.cluster.get(new)
            return await self._apply(new, query)
        return await self.cluster.request(
            "PATCH",
            await self.cluster.path_of(new),
            query=query | {"fieldManager": self.manager},
            body=wired(merge_patch(old, new)),
            content_type="application/merge-patch+json",
        )

    async def delete(self, asked: Object) -> None:
        """Asks for the deletion; an object waits for those that depend on it."""
        said = annotation(asked, DELETION_PROPAGATION).lower()
        body = {"propagationPolicy": _PROPAGATION.get(said, "Foreground")}
        await self.cluster.request("DELETE", await self.cluster.path_of(asked), body=body)

    async def _create(self, asked: Object) -> Object:
        if not self.settings.server_side_apply:
            return await self.cluster.request(
                "POST",
                await self.cluster.path_of(asked, collection=True),
                query={"fieldManager": self.manager},
                body=wired(asked),
            )
        # To apply is to update what is there, which would take it away from whoever has it.
        if not self.settings.upsert and await self.cluster.get_if_there(asked) is not None:
            kind = await self.cluster.kind_of(asked)
            raise ProviderError(f'{kind.qualified} "{name_of(asked)}" already exists')
        return await self._apply(asked, {})

    async def _apply(self, asked: Object, query: Mapping[str, str]) -> Object:
        force = self.settings.patch_force or says_yes(asked, PATCH_FORCE)
        try:
            return await self._send(asked, query, force=force)
        except ApiError as error:
            if error.code != 409:
                raise
            if not force and _are_adopted(error):
                return await self._send(asked, query, force=True)
            raise ProviderError(
                f"Server-Side Apply field conflict detected. See {_CONFLICTS_EXPLAINED} for "
                "troubleshooting help.\nThe resource managed by field manager "
                f'"{self.manager}" had an apply conflict: {error}\nThe annotation '
                f'{PATCH_FORCE}: "true" takes the fields over.'
            ) from error

    async def _send(self, asked: Object, query: Mapping[str, str], *, force: bool) -> Object:
        return await self.cluster.request(
            "PATCH",
            await self.cluster.path_of(asked),
            query={**query, "fieldManager": self.manager, "force": str(force).lower()},
            body=wired(asked),
            content_type="application/apply-patch+yaml",
        )


def merge_patch(old: Any, new: Any) -> Any:
    """A JSON merge patch: what is new, and null for what is not there any more."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    gone = dict.fromkeys(key for key in old if key not in new)
    changed = {
        key: merge_patch(old.get(key), value) for key, value in new.items() if old.get(key) != value
    }
    return gone | changed


def _are_adopted(conflict: ApiError) -> bool:
    """Whether the conflict is with nobody but those whose fields are taken over."""
    causes = [cause.get("message", "") for cause in conflict.details.get("causes") or []]
    managers = [match["name"] for match in map(_MANAGER.search, causes) if match]
    return bool(managers) and all(name.startswith(_ADOPTED) for name in managers)


async def _tried_again(work: Callable[[], Awaitable[Object]], rest: Rest) -> Object:
    missing: ProviderError | None = None
    for seconds in _SECONDS_BEFORE_TRIES:
        await rest(seconds)
        try:
            return await work()
        except NoMatchError as error:
            missing = error
        except ApiError as error:
            if not error.is_missing_namespace:
                raise
            missing = error
    assert missing is not None  # noqa: S101 (there is at least one try)
    raise missing
