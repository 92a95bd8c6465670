"""What is done with one resource on its cluster, from its creation to its end."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.values import holds_unknown
from rehearsal.stand_ins.kubernetes.cluster import ApiError, Cluster, NoMatchError
from rehearsal.stand_ins.kubernetes.objects import Object, name_of, object_id
from rehearsal.stand_ins.kubernetes.recorded import manager_of, outputs, recorded
from rehearsal.stand_ins.kubernetes.settings import Settings
from rehearsal.stand_ins.kubernetes.waiting import Waiting
from rehearsal.stand_ins.kubernetes.writing import Writing


@dataclass(frozen=True)
class Work:
    """The work on one resource; what it gives are outputs, as they are recorded."""

    urn: str
    cluster: Cluster
    settings: Settings
    log: EngineLog
    cancellation: Cancellation

    async def preview_creation(self, asked: Object) -> Object:
        """What would be created: as the server says, or as the inputs say where it cannot."""
        if holds_unknown(asked) or not self.settings.server_side_apply:
            return asked
        try:
            # What is there is either in the way, or will be gone by then: that is not known here.
            if await self.cluster.get_if_there(asked) is not None:
                return asked
            live = await self._writing(asked, {}).rehearse_creation(asked)
        except NoMatchError:
            return asked
        except ApiError as error:
            if error.is_missing_namespace or error.code == 403:
                return asked
            raise
        return _without_status(live)

    async def create(self, asked: Object, within: float) -> Object:
        writing = self._writing(asked, {})
        try:
            live = await writing.create(asked)
        except NoMatchError as error:
            raise ProviderError(
                f'creation of resource "{self.urn}" with kind {asked["apiVersion"]}/'
                f"{asked['kind']} failed because the Kubernetes API server reported that the "
                "apiVersion for this resource does not exist. Verify that any required CRDs have "
                f"been created: {error}"
            ) from error
        except ProviderError as error:
            raise ProviderError(
                f'resource "{self.urn}" was not successfully created by the Kubernetes API '
                f"server: {error}"
            ) from error
        failed = (
            f'resource "{self.urn}" was successfully created, but the Kubernetes API server '
            "reported that it failed to fully initialize or become live"
        )
        return await self._once_ready(asked, live, within, writing.manager, failed)

    async def preview_update(self, old: Object, new: Object, state: Mapping[str, Any]) -> Object:
        if holds_unknown(new):
            return new
        writing = self._writing(new, state)
        live = await self._updated(writing, old, new, is_preview=True)
        return _without_status(outputs(live, writing.manager))

    async def update(
        self, old: Object, new: Object, state: Mapping[str, Any], within: float
    ) -> Object:
        writing = self._writing(new, state)
        live = await self._updated(writing, old, new)
        return await self._once_ready(new, live, within, writing.manager, _not_live(live))

    async def read(self, asked: Object, state: Mapping[str, Any]) -> Object | None:
        """The outputs as they are now; None where there is nothing any more."""
        try:
            live = await self.cancellation.watch(self.cluster.get_if_there(asked))
        except NoMatchError:
            # The kind is gone, and what was of it went with it.
            return None
        return outputs(live, self._writing(asked, state).manager) if live else None

    async def require_ready(self, asked: Object, live: Object, now: Object) -> None:
        """Raises ResourceInitError, with `now` as the inputs, where the object is not ready."""
        try:
            await self.cancellation.watch(self._waiting(asked, live).require_ready())
        except ProviderError as error:
            raise ResourceInitError(
                str(error),
                resource_id=object_id(live),
                properties=recorded(live),
                inputs=recorded(now),
            ) from error

    async def delete(self, asked: Object, within: float) -> None:
        try:
            live = await self.cluster.get_if_there(asked)
            if live is None:
                return
            await self._writing(asked, asked).delete(asked)
        except NoMatchError:
            return
        except ApiError as error:
            if error.code == 404:
                return
            raise
        await self.cancellation.watch(self._waiting(asked, live).until_gone(within))

    async def _updated(
        self, writing: Writing, old: Object, new: Object, *, is_preview: bool = False
    ) -> Object:
        try:
            return await writing.update(old, new, is_preview=is_preview)
        except ProviderError as error:
            raise ProviderError(f"{_not_live(new)}: {error}") from error

    async def _once_ready(
        self, asked: Object, live: Object, within: float, manager: str, failed: str
    ) -> Object:
        """The outputs of what is ready; what is not stays in the state, with the reason."""
        waiting = self._waiting(asked, live)
        try:
            await self.cancellation.watch(waiting.until_ready(within))
        except ProviderError as error:
            raise ResourceInitError(
                f"{failed}: {_reason(error, waiting)}",
                resource_id=object_id(waiting.live),
                properties=recorded(outputs(waiting.live, manager)),
            ) from error
        return outputs(waiting.live, manager)

    def _writing(self, asked: Object, state: Mapping[str, Any]) -> Writing:
        manager = manager_of(asked, state, server_side_apply=self.settings.server_side_apply)
        return Writing(self.cluster, self.settings, manager, self._rest)

    def _waiting(self, asked: Object, live: Object) -> Waiting:
        return Waiting(self.cluster, asked, live, self._tell)

    async def _tell(self, message: str) -> None:
        await self.log.status(self.urn, message)

    async def _rest(self, seconds: float) -> None:
        await self.cancellation.watch(asyncio.sleep(seconds))


def _reason(error: ProviderError, waiting: Waiting) -> str:
    if not isinstance(error, CancelledUpdateError):
        return str(error)
    cancelled = f'Resource operation was cancelled for "{name_of(waiting.live)}"'
    return "\n".join((cancelled, *(f"    - {line}" for line in waiting.complaints)))


def _not_live(asked: Object) -> str:
    return (
        f'the Kubernetes API server reported that "{object_id(asked)}" failed to fully '
        "initialize or become live"
    )


def _without_status(live: Object) -> Object:
    return {key: value for key, value in live.items() if key != "status"}
