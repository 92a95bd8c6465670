"""The operations on one resource: preview, create, update, read and delete."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kube_client.client import CONFLICT, FORBIDDEN, ApiError
from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, ResourceInitError
from rehearsal.offline_plug_ins.kubernetes.cluster import (
    Cluster,
    NoMatchError,
    is_missing_namespace,
)
from rehearsal.offline_plug_ins.kubernetes.objects import (
    Object,
    holds_unknown,
    name_of,
    object_id,
)
from rehearsal.offline_plug_ins.kubernetes.recorded import manager_of, outputs, recorded
from rehearsal.offline_plug_ins.kubernetes.waiting import OF_DAEMON_SETS, NotReadyError, Waiting

_FAILURES = (ApiError, ProviderError)


@dataclass(frozen=True)
class Lifecycle:
    """One resource; its methods return outputs in the engine's form."""

    urn: str
    cluster: Cluster
    log: EngineLog
    cancellation: Cancellation

    async def preview_creation(self, inputs: Object) -> Object:
        """Returns the object that the server would create; the inputs if that is not known yet."""
        if holds_unknown(inputs):
            return inputs
        try:
            live = await self.cluster.post(inputs, is_preview=True)
        except NoMatchError:
            return inputs
        except ApiError as error:
            # An existing object may be deleted by the same update before.
            if is_missing_namespace(error) or error.status in (FORBIDDEN, CONFLICT):
                return inputs
            raise ProviderError(str(error)) from error
        return _without_status(live)

    async def create(self, inputs: Object, within: float) -> Object:
        manager = manager_of({})
        try:
            live = await self.cluster.create(inputs, self._rest)
        except NoMatchError as error:
            raise ProviderError(
                f'creation of resource "{self.urn}" with kind {inputs["apiVersion"]}/'
                f"{inputs['kind']} failed because the Kubernetes API server reported that the "
                "apiVersion for this resource does not exist. Verify that any required CRDs have "
                f"been created: {error}"
            ) from error
        except _FAILURES as error:
            raise ProviderError(
                f'resource "{self.urn}" was not successfully created by the Kubernetes API '
                f"server: {error}"
            ) from error
        failed = (
            f'resource "{self.urn}" was successfully created, but the Kubernetes API server '
            "reported that it failed to fully initialize or become live"
        )
        return await self._once_ready(inputs, live, within, manager, failed)

    async def preview_update(self, new: Object, state: Mapping[str, Any]) -> Object:
        if holds_unknown(new):
            return new
        manager = manager_of(state)
        live = await self._updated(new, manager, is_preview=True)
        return _without_status(outputs(live, manager))

    async def update(self, new: Object, state: Mapping[str, Any], within: float) -> Object:
        manager = manager_of(state)
        live = await self._updated(new, manager, is_preview=False)
        return await self._once_ready(new, live, within, manager, _not_live(live))

    async def read(self, inputs: Object, state: Mapping[str, Any]) -> Object | None:
        """Returns the outputs of the live object; None if it does not exist."""
        try:
            with refusals_reported():
                live = await self.cancellation.watch(self.cluster.get(inputs))
        except NoMatchError:
            # Its custom resource definition was deleted, and all its objects with it.
            return None
        return outputs(live, manager_of(state)) if live else None

    async def require_ready(self, inputs: Object, live: Object, now: Object) -> None:
        """Raises ResourceInitError, with `now` as the inputs, unless the object is ready."""
        try:
            await self.cancellation.watch(self._waiting(inputs, live).require_ready())
        except _FAILURES as error:
            raise ResourceInitError(
                str(error),
                resource_id=object_id(live),
                properties=recorded(live),
                inputs=recorded(now),
                details=error.reasons if isinstance(error, NotReadyError) else (),
            ) from error

    async def delete(self, inputs: Object, within: float) -> None:
        try:
            with refusals_reported():
                live = await self.cluster.get(inputs)
                if live is None:
                    return
                await self.cluster.delete(inputs)
                await self.cancellation.watch(self._waiting(inputs, live).until_gone(within))
        except NoMatchError:
            return

    async def _updated(self, new: Object, manager: str, *, is_preview: bool) -> Object:
        try:
            return await self.cluster.update(new, manager, is_preview=is_preview)
        except _FAILURES as error:
            raise ProviderError(f"{_not_live(new)}: {error}") from error

    async def _once_ready(
        self, inputs: Object, live: Object, within: float, manager: str, failed: str
    ) -> Object:
        """Returns the outputs once the object is ready; a failed one stays in the state."""
        waiting = self._waiting(inputs, live)
        try:
            await self.cancellation.watch(waiting.until_ready(within))
        except _FAILURES as error:
            reason, details = _reasons(error, waiting)
            raise ResourceInitError(
                f"{failed}: {reason}",
                resource_id=object_id(waiting.live),
                properties=recorded(outputs(waiting.live, manager)),
                details=details,
            ) from error
        return outputs(waiting.live, manager)

    def _waiting(self, inputs: Object, live: Object) -> Waiting:
        return Waiting(self.cluster, inputs, live, self._report)

    async def _report(self, message: str) -> None:
        await self.log.status(self.urn, message)

    async def _rest(self, seconds: float) -> None:
        await self.cancellation.watch(asyncio.sleep(seconds))


@contextmanager
def refusals_reported() -> Iterator[None]:
    """Turns the server's refusals into errors for the user."""
    try:
        yield
    except ApiError as error:
        raise ProviderError(str(error)) from error


def _reasons(error: Exception, waiting: Waiting) -> tuple[str, Iterable[str]]:
    """Returns why an object is not ready, and what its pods and events say of it."""
    if isinstance(error, NotReadyError):
        return str(error), error.reasons
    if not isinstance(error, CancelledUpdateError):
        return str(error), ()
    if waiting.live["kind"] == "DaemonSet":
        return OF_DAEMON_SETS, ()
    cancelled = f'Resource operation was cancelled for "{name_of(waiting.live)}"'
    return cancelled, waiting.complaints


def _not_live(inputs: Object) -> str:
    return (
        f'the Kubernetes API server reported that "{object_id(inputs)}" failed to fully '
        "initialize or become live"
    )


def _without_status(live: Object) -> Object:
    return {key: value for key, value in live.items() if key != "status"}
