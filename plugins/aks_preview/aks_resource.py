"""Creates, reads, updates and deletes node pools and clusters."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from azure.core.exceptions import HttpResponseError
from pulumi.provider.experimental.provider import DiffResponse

from aks_catalogue import headers, nodes
from aks_catalogue.aks_properties import POOL
from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.shapes import mapping, mappings
from aks_preview.aks_diff import aks_diff, is_autoscaled, refreshed, with_fixed
from aks_preview.aks_types import (
    AGENT_POOL,
    HEADERS,
    REPLACE_ON_HEADERS,
    AksType,
    input_only,
    is_anothers,
)
from aks_preview.configuration import TAKE_OVER, taken_over
from provider_kit.arm import Arm, Change, Headers, NotFoundError, state_of, unchanged
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.errors import explained, reason_in
from provider_kit.provider import Handler, Live, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.values import UNKNOWN, property_map
from provider_kit.waiting import loop_time, pauses, wait_because_of

# The messages of AKS and ARM for another running operation. Their error codes are not enough: a
# used-up quota and a stopped cluster have the same ones.
_BUSY = re.compile("in ?progress|concurrent|aks-pending-operation", re.IGNORECASE)
_PAUSES = 0.5, 30.0
# For a time, Azure can still return a resource that it has deleted.
_READS_AFTER_DELETION = 5
_READ_TIMEOUT, _LOOK_TIMEOUT = 600.0, 30.0
# The property of a resource with its state. The outputs of an unfinished update do not have it.
STATE, SUCCEEDED = "provisioningState", "Succeeded"
_CONFLICT, _PRECONDITION_FAILED = 409, 412
# The properties of the number of nodes.
_NODES = ("count", "enableAutoScaling", "maxCount", "minCount")
_BROKEN = frozenset({"Canceled", "Failed"})


class AksResource(Handler):
    """The handler of one resource type of AKS."""

    def __init__(
        self,
        aks_type: AksType,
        arm: Arm,
        log: EngineLog,
        names_new_feature: Callable[[str], bool],
    ) -> None:
        self._type = aks_type
        self._arm = arm
        self._log = log
        # The resources that this run has taken over, by their IDs.
        self._taken: set[str] = set()
        self._names_new_feature = names_new_feature

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        yield from self._type.name_mistakes(inputs)
        yield from header_mistakes(inputs)

    def require(self, resource_id: str) -> None:
        self._arm.require(resource_id)

    def diff(self, old: Recorded, inputs: Values) -> DiffResponse:
        if not is_anothers(self._type, old.outputs):
            return aks_diff(self._type, old.inputs, old.outputs, inputs)
        if inputs.get(REPLACE_ON_HEADERS) is True:
            # The inputs of azure-native's state have neither.
            return diff(old.inputs, inputs, replaces=[REPLACE_ON_HEADERS, HEADERS])
        planned = aks_diff(self._type, old.inputs, old.outputs, inputs)
        if planned.replaces and self._type is AGENT_POOL:
            # The new pool can have another provider.
            return planned
        raise ProviderError(_cannot_move(self._type, str(old.outputs.get("id"))))

    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        resource_id = self._type.resource_id(self._arm.subscription, inputs)
        if (existing := await self._undeleted(task, resource_id)) is not None:
            if resource_id.lower() not in taken_over(self._arm.configuration.text(TAKE_OVER)):
                raise ProviderError(_exists_already(self._type, task, resource_id))
            self._taken.add(resource_id.lower())
            known = Recorded({}, self._type.outputs_of(existing, self._api_version))
            return resource_id, await self.update(task, resource_id, known, inputs)

        async def request() -> tuple[Values, Headers]:
            # An earlier try may have created it.
            only_new = {} if put.is_unclear else {"If-None-Match": "*"}
            return self._type.body(inputs), {**(inputs.get(HEADERS) or {}), **only_new}

        put = Change("PUT", resource_id, self._api_version, request, self._is_busy)
        try:
            return resource_id, await self._put(task, inputs, put)
        except Exception as error:
            # After Azure has accepted the request, a 404 does not prove that nothing exists.
            if put.accepted or (put.is_unclear and await self._may_exist(resource_id)):
                raise _unfinished(resource_id, inputs, error, put) from error
            if getattr(error.__cause__, "status_code", None) == _PRECONDITION_FAILED:
                message = _exists_already(self._type, task, resource_id)
                raise ProviderError(f"{message}\n{error}") from error
            raise

    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:
        place = self._place(resource_id)
        desired = emptied(self._type.known.emptied_by, old.inputs, inputs)
        is_finished, etags = _was_finished(old.outputs), [""]

        async def request() -> tuple[Values, Headers]:
            """Reads the live resource for each try: AKS can scale it while this waits."""
            live = await self._find(place, task.until) or {}
            sent = as_others_left(desired, old.inputs, live, is_finished=is_finished)
            require_nodes(sent, live)
            # Otherwise a change of another client, since this look, would be undone.
            etags.append(str(live.get("eTag") or ""))
            unchanged = {"If-Match": f'"{etags[-1]}"'} if etags[-1] else {}
            return self._type.body(sent), {**(inputs.get(HEADERS) or {}), **unchanged}

        def is_busy(error: HttpResponseError) -> bool:
            has_changed = error.status_code == _PRECONDITION_FAILED and etags[-1] != etags[-2]
            return has_changed or self._is_busy(error)

        put = Change("PUT", place, self._api_version, request, is_busy)
        try:
            return await self._put(task, inputs, put)
        except Exception as error:
            if put.accepted or put.is_unclear:
                raise _unfinished(resource_id, inputs, error, put) from error
            raise

    async def read(self, resource_id: str, old: Recorded) -> Live | None:
        outputs = await self._find(self._place(resource_id), loop_time() + _READ_TIMEOUT)
        if outputs is None:
            return None
        actual = self._type.inputs_of(outputs)
        if old.inputs:
            before = self._type.inputs_of(old.outputs)
            inputs = refreshed(old.inputs, before, actual) | input_only(old.inputs)
            if not _was_finished(old.outputs):
                # An unfinished update left the inputs as outputs. Azure returns some of them never,
                # such as `scaleSetPriority: Regular`, and without them it would be replaced.
                inputs = with_fixed(self._type, inputs, old.inputs)
        else:
            chosen = self._type.known.chosen_by_aks
            inputs = {name: value for name, value in actual.items() if name not in chosen}
        reason = _why_unfinished(resource_id, old.outputs, outputs)
        if reason and not _was_finished(old.outputs):
            del outputs[STATE]
        return Live(outputs | input_only(old.outputs), inputs, reason)

    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:  # noqa: ARG002
        place, refusal = self._place(resource_id), ""
        if place.lower() in self._taken:
            # It had another name in the program, or it is being replaced.
            message = f"{place} is not deleted in Azure, because this update has taken it over."
            await self._log.warning(task.urn, message)
            return
        deletion = Change("DELETE", place, self._api_version, unchanged(), self._is_busy)
        try:
            await self._arm.change(deletion, task.until)
        except NotFoundError as error:
            refusal = str(error)
        await self._require_gone(task, place, refusal)

    async def _put(self, task: Task, inputs: Values, put: Change) -> dict[str, Any]:
        """Sends a PUT, and returns the outputs after its operation has ended."""
        resource = await self._arm.change(put, task.until)
        outputs = self._type.outputs_of(resource, self._api_version)
        return {STATE: SUCCEEDED} | outputs | _not_returned(inputs)

    def _is_busy(self, error: HttpResponseError) -> bool:
        """Whether another operation is running, or AKS does not know a new feature yet."""
        message = explained(error)
        is_running = error.status_code == _CONFLICT and _BUSY.search(message) is not None
        return is_running or self._names_new_feature(message)

    async def _undeleted(self, task: Task, resource_id: str) -> dict[str, Any] | None:
        """Returns a resource, if it exists. Waits until its deletion has ended."""
        waits = pauses(*_PAUSES)
        while True:
            resource = await self._arm.find(resource_id, self._api_version, task.until)
            if resource is None or state_of(resource).lower() != "deleting":
                return resource
            await self._wait(task, next(waits), f"{resource_id} is being deleted.")

    async def _require_gone(self, task: Task, resource_id: str, refusal: str) -> None:
        """Waits until a resource is certainly deleted, also after a deletion answered with 404."""
        waits, reads = pauses(*_PAUSES), itertools.count(1)
        while (resource := await self._undeleted(task, resource_id)) is not None:
            if next(reads) > _READS_AFTER_DELETION:
                why = refusal or reason_in(resource) or "Azure gave no reason."
                raise ProviderError(
                    f"The deletion of {resource_id} ended, but it still exists: {why}"
                )
            await self._wait(task, next(waits), f"{resource_id} is being deleted.")

    async def _wait(self, task: Task, seconds: float, reason: str) -> None:
        await wait_because_of(reason)
        await self._arm.pause(seconds, task.until)

    def _place(self, resource_id: str) -> str:
        """Returns an ID in this provider's spelling; the state can have another case.

        Refuses an ID of another type or another subscription.
        """
        names = self._type.names_in(resource_id)
        self._arm.require(resource_id)
        return self._type.resource_id(self._arm.subscription, names)

    @property
    def _api_version(self) -> str:
        return self._arm.configuration.text("apiVersion")

    async def _find(self, resource_id: str, until: float | None) -> dict[str, Any] | None:
        """Returns the outputs of the live resource; None if it does not exist."""
        resource = await self._arm.find(resource_id, self._api_version, until)
        return self._type.outputs_of(resource, self._api_version) if resource is not None else None

    async def _may_exist(self, resource_id: str) -> bool:
        """Whether a resource exists after an unclear PUT, or that is unknown.

        This also runs after a cancellation, so that the state contains what Azure has.
        """
        try:
            await self._arm.look(resource_id, self._api_version, loop_time() + _LOOK_TIMEOUT)
        except NotFoundError as error:
            return not error.is_gone
        except ProviderError:
            return True
        return True


def _exists_already(aks_type: AksType, task: Task, resource_id: str) -> str:
    # A URN contains the types of the parents, but not their names.
    parent = " --parent 'parent=URN'" if "$" in task.urn else ""
    return (
        f"{resource_id} exists already, so {task.urn} cannot create it. If the state has it, set "
        "the resource option `deleteBeforeReplace` for a replacement, `aliases` for a new name. If "
        f"a killed update created it, run `AKS_PREVIEW_TAKE_OVER={resource_id} pulumi up`. If "
        "somebody else did, delete it, or run "
        f"`pulumi import {aks_type.token} {task.name} {resource_id}{parent}`."
    )


def _cannot_move(aks_type: AksType, resource_id: str) -> str:
    replacing = f"; or set {REPLACE_ON_HEADERS}: true, which deletes this pool and creates it again"
    return (
        f"azure-native created {resource_id}, and an existing resource cannot move to aks-preview: "
        f"remove {HEADERS}, and what needs them: {headers.SETTINGS_OF_SPECIALIZED_IMAGE}, or "
        "properties in `extra` that only newer versions of the API have; or create another "
        f"{aks_type.name} with them{replacing if aks_type is AGENT_POOL else ''}."
    )


def header_mistakes(inputs: Values) -> Iterator[Mistake]:
    """Yields the mistakes in custom headers."""
    sent = inputs.get(HEADERS)
    if isinstance(sent, Mapping):
        yield from headers.header_mistakes(sent, HEADERS)
        for name, value in sent.items():
            if value is not UNKNOWN and not isinstance(value, str):
                yield Mistake(property_path(HEADERS, name), "must be a string")


def require_nodes(desired: Values, live: Values) -> None:
    """Refuses to turn off autoscaling and change the number of nodes at once."""
    live_pools = _pools(live)
    pools = [(pool, live_pools.get(name, {})) for name, pool in _pools(desired).items()]
    for pool, actual in [(desired, live), *pools]:
        name = pool.get("name") or pool.get("agentPoolName") or ""
        if reason := nodes.lost_nodes(name, pool, actual):
            raise ProviderError(reason)


def emptied(empty: Values, old: Values, new: Values) -> dict[str, Any]:
    """Returns the new inputs, with an empty value for each removed property.

    AKS keeps properties that a request does not contain.
    """
    removed = {name: value for name, value in empty.items() if old.get(name) and not new.get(name)}
    result = {**removed, **new}
    if "agentPoolProfiles" in new:
        before = _pools(old)
        result["agentPoolProfiles"] = [
            emptied(POOL.emptied_by, before.get(name, {}), pool)
            for name, pool in _pools(new).items()
        ]
    return result


def as_others_left(
    desired: Values, old: Values, live: Values, *, is_finished: bool
) -> dict[str, Any]:
    """Returns the inputs of an update, without undoing changes of others.

    The update keeps the live number of nodes, unless it changes the scaling, and the tags of
    others. If the last update did not finish, it keeps only the autoscaler's number of nodes.
    """
    result = dict(desired)
    if is_finished and "count" in live and not _changes_nodes(desired, old):
        names = [name for name in _NODES if name in desired or is_autoscaled(live)]
        result = {name: value for name, value in desired.items() if name not in _NODES}
        result |= {name: live[name] for name in names if live.get(name) is not None}
    elif is_autoscaled(desired) and "count" in live:
        result["count"] = live["count"]
    if "tags" in desired:
        ours = {name.casefold() for name in (*mapping(old.get("tags")), *desired["tags"])}
        live_tags = mapping(live.get("tags"))
        result["tags"] = {
            **{name: value for name, value in live_tags.items() if name.casefold() not in ours},
            **desired["tags"],
        }
    if "agentPoolProfiles" in desired:
        old_pools, live_pools = _pools(old), _pools(live)
        result["agentPoolProfiles"] = [
            as_others_left(
                pool, old_pools.get(name, {}), live_pools.get(name, {}), is_finished=is_finished
            )
            for name, pool in _pools(desired).items()
        ]
    return result


def _changes_nodes(desired: Values, old: Values) -> bool:
    def setting(values: Values, name: str) -> Any:
        return None if values.get(name) is False else values.get(name)

    return any(setting(desired, name) != setting(old, name) for name in _NODES)


def _pools(cluster: Values) -> dict[str, Values]:
    pools = mappings(cluster.get("agentPoolProfiles"))
    return {pool["name"]: pool for pool in pools if isinstance(pool.get("name"), str)}


def _was_finished(outputs: Values) -> bool:
    return STATE in outputs


def _why_unfinished(resource_id: str, old: Values, outputs: Values) -> str:
    """Returns why the next `pulumi up` must continue with a resource; empty if it need not.

    An operation of another client since the last finished update does not count.
    """
    state = str(outputs.get(STATE) or SUCCEEDED)
    is_others_operation = state not in _BROKEN and _was_finished(old)
    if state == SUCCEEDED or is_others_operation:
        return ""
    message = reason_in({"properties": outputs})
    return (
        f"In Azure, {resource_id} is {state}{f', {message}' if message else ''}. "
        "The next `pulumi up` continues with it."
    )


def _not_returned(inputs: Values) -> dict[str, Any]:
    """Returns the inputs that Azure never returns. After an import, the state has no headers."""
    return {HEADERS: {}} | input_only(inputs)


def _unfinished(
    resource_id: str, inputs: Values, error: Exception, put: Change
) -> ResourceInitError:
    exists = "exists" if put.accepted else "may exist"
    return ResourceInitError(
        f"{resource_id} {exists}, but is not finished: {explained(error)}\n"
        "It stays in the state, and the next `pulumi up` continues with it.",
        resource_id=resource_id,
        properties=property_map({**inputs, **_not_returned(inputs)}),
    )
