"""Creates, reads, updates and deletes node pools and clusters."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from azure.core.exceptions import HttpResponseError
from pulumi.provider.experimental.provider import DiffResponse

from aks_catalogue import headers, nodes
from aks_catalogue.aks_properties import POOL
from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.shapes import mapping, mappings
from aks_preview.aks_diff import aks_diff
from aks_preview.aks_types import (
    AGENT_POOL,
    HEADERS,
    REPLACE_ON_HEADERS,
    AksType,
    input_only,
    is_anothers,
)
from aks_preview.configuration import TAKE_OVER, taken_over
from aks_preview.equivalence import is_autoscaled, projected
from provider_kit.absence import find, reports_missing
from provider_kit.arm import Accepted, Arm, Method, NotFoundError, state_of
from provider_kit.cancellation import Cancellation
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.errors import because, explained, words
from provider_kit.exchange import ONLY_NEW, Delivery, pause_of
from provider_kit.provider import Handler, Live, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.shapes import mistakes
from provider_kit.values import holds_unknown, property_map
from provider_kit.waiting import in_time, loop_time, pauses, wait_because_of, waited

Result = TypeVar("Result")

# The messages of AKS and ARM for another running operation. Their error codes are not enough: a
# used-up quota and a stopped cluster have the same ones.
_BUSY = re.compile("in ?progress|concurrent|aks-pending-operation", re.IGNORECASE)
_PAUSES = 0.5, 30.0
# For a time, Azure can still return a resource that it has deleted.
_READS_AFTER_DELETION = 5
_READ_TIMEOUT = 600.0
_LOOK_TIMEOUT = 30.0


# The property of a resource with its state.
STATE, SUCCEEDED = "provisioningState", "Succeeded"
# The property of a state whose update is complete, although another client's operation was running
# at the last read. Pulumi does not show properties that begin with two underscores.
_FINISHED = "__finished"
# The status of a PUT with `If-None-Match: *` for an existing resource.
_PRECONDITION_FAILED = 412
# A property of pools that azure-native does not have, and AKS can update.
_STREAMING = "artifactStreamingProfile"
# The properties of the number of nodes.
_NODES = ("count", "enableAutoScaling", "maxCount", "minCount")
_BROKEN = frozenset({"Canceled", "Failed"})

# The alternative to removing headers from a resource that cannot have them.
_ALTERNATIVES = MappingProxyType(
    {
        "AgentPool": f"create another pool with them; or set {REPLACE_ON_HEADERS}: true, which "
        "deletes this pool and creates it again.",
        "ManagedCluster": "create another cluster with them.",
    }
)


class AksResource(Handler):
    """The handler of one resource type of AKS."""

    def __init__(
        self,
        aks_type: AksType,
        arm: Arm,
        cancellation: Cancellation,
        log: EngineLog,
        names_new_feature: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._type = aks_type
        self._arm = arm
        self._cancellation = cancellation
        self._log = log
        self._names_new_feature = names_new_feature
        # By URN, the Azure resource that a resource of the program names, ...
        self._named: dict[str, str] = {}
        # ... and the one that it has kept, taken over or created in this run.
        self._held: dict[str, str] = {}
        # The URN and Azure resource of each creation in this run.
        self._created: set[tuple[str, str]] = set()

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        yield from mistakes(self._type.inputs, inputs)
        yield from self._type.name_mistakes(inputs)
        yield from header_mistakes(inputs)

    def rivals(self, urn: str, inputs: Values) -> Iterator[Mistake]:
        """Yields a mistake if another resource of the program names the same Azure resource.

        Both would create it, and deleting one would delete it for the other.
        """
        names = {name: inputs[name] for name in self._type.path_names}
        if holds_unknown(names):
            return
        named = self._named[urn] = self._type.resource_id("", names).lower()
        for rival in [other for other, other_named in self._named.items() if other_named == named]:
            if rival != urn:
                yield Mistake(
                    self._type.path_names[-1],
                    f"names the same Azure resource as {rival}. Remove one of the two from the "
                    "program. If both are in the state, remove one with `pulumi state delete`: "
                    "otherwise, deleting one deletes the other's Azure resource",
                )

    def require(self, resource_id: str) -> None:
        self._arm.require(resource_id)

    def diff(self, old: Recorded, inputs: Values) -> DiffResponse:
        if not is_anothers(self._type, old.outputs):
            return aks_diff(self._type, old.inputs, old.outputs, inputs)
        if inputs.get(REPLACE_ON_HEADERS) is True:
            return diff(old.inputs, inputs, replaces=[HEADERS])
        planned = aks_diff(self._type, old.inputs, old.outputs, inputs)
        if planned.replaces and self._type is AGENT_POOL:
            # The new pool can have another provider.
            return planned
        raise ProviderError(_cannot_move(self._type, str(old.outputs.get("id")), inputs))

    def compared(self, urn: str, resource_id: str, *, stays: bool) -> None:
        # With an alias, the engine deletes a replaced resource by its old URN.
        self._held.pop(urn, None)
        self._created.discard((urn, resource_id.lower()))
        if stays:
            self._hold(urn, resource_id)

    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        resource_id = self._type.resource_id(self._arm.subscription, inputs)
        if (existing := await self._existing(task, resource_id)) is not None:
            if resource_id.lower() not in taken_over(self._arm.configuration.text(TAKE_OVER)):
                raise ProviderError(_exists_already(self._type, task, resource_id))
            try:
                outputs = await self.update(task, resource_id, Recorded({}, existing), inputs)
            except ResourceInitError:
                raise
            except Exception:
                self._held.pop(task.urn, None)
                raise
            finally:
                self._created.add((task.urn, resource_id.lower()))
            return resource_id, outputs
        delivery = Delivery()
        try:
            accepted = await self._begin(
                task, "PUT", resource_id, lambda: _known(inputs), delivery, is_new=True
            )
            self._hold(task.urn, resource_id)
            self._created.add((task.urn, resource_id.lower()))
            return resource_id, await self._finished(task, accepted, inputs)
        except Exception as error:
            # After Azure has accepted the request, a 404 does not prove that nothing exists.
            if delivery.is_accepted or (delivery.is_unclear and await self._may_exist(resource_id)):
                raise _unfinished(resource_id, inputs, error, delivery) from error
            if getattr(error.__cause__, "status_code", None) == _PRECONDITION_FAILED:
                message = _exists_already(self._type, task, resource_id)
                raise ProviderError(f"{message}\n{error}") from error
            raise

    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:
        place = self._place(resource_id)
        self._hold(task.urn, place)
        self._created.discard((task.urn, place.lower()))
        desired = emptied(self._type.known.emptied_by, old.inputs, inputs)
        is_finished = _was_finished(old.outputs)

        async def request_inputs() -> Values:
            """Reads the live resource for each try: AKS can scale it while this waits."""
            live = await self._get(place, task.until) or {}
            sent = as_others_left(desired, old.inputs, live, is_finished=is_finished)
            require_nodes(sent, live)
            return sent

        delivery = Delivery()
        try:
            accepted = await self._begin(task, "PUT", place, request_inputs, delivery)
            return await self._finished(task, accepted, inputs)
        except Exception as error:
            if delivery.is_accepted or delivery.is_unclear:
                raise _unfinished(resource_id, inputs, error, delivery) from error
            raise

    async def read(self, resource_id: str, old: Recorded) -> Live | None:
        outputs = await self._get(self._place(resource_id), loop_time() + _READ_TIMEOUT)
        if outputs is None:
            return None
        actual = self._type.inputs_of(outputs)
        if old.inputs:
            inputs = projected(self._type.inputs, old.inputs, actual) | input_only(old.inputs)
        else:
            inputs = {
                name: value
                for name, value in actual.items()
                if not self._type.is_filled_in(name, value)
            }
        reason = _why_unfinished(resource_id, old.outputs, outputs)
        if _was_finished(old.outputs):
            outputs = _finished(outputs)
        return Live(resource_id, outputs | input_only(old.outputs), inputs, reason)

    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:  # noqa: ARG002
        place = self._place(resource_id)
        if (task.urn, place.lower()) in self._created:
            # A replacement that the engine deletes last: the old resource and the new one are one.
            message = f"{place} is not deleted in Azure, because this update created it anew."
            await self._log.warning(task.urn, message)
            return
        if self._held.get(task.urn) == place.lower():
            del self._held[task.urn]
        for other, held in self._held.items():
            if held == place.lower() and other != task.urn:
                message = f"{place} is not deleted in Azure, because {other} uses it now."
                await self._log.warning(task.urn, message)
                return
        refusal = None
        try:
            deleting = await self._begin(task, "DELETE", place)
            await self._arm.finish(deleting, task.until)
        except NotFoundError as error:
            refusal = error
        await self._require_gone(task, place, refusal)

    def _hold(self, urn: str, resource_id: str) -> None:
        self._held[urn] = resource_id.lower()

    async def _existing(self, task: Task, resource_id: str) -> dict[str, Any] | None:
        """Returns the outputs of an existing resource, if any. Waits until a deletion has ended."""
        waits = pauses(*_PAUSES)
        while True:
            try:
                look = self._arm.look(resource_id, self._api_version, task.until)
                resource = await self._cancellation.watch(look)
            except NotFoundError as error:
                if not reports_missing(error, resource_id):
                    raise
                waited()
                return None
            if state_of(resource).lower() != "deleting":
                return self._type.outputs_of(resource, self._api_version)
            await self._wait(task, next(waits), f"another {resource_id} is being deleted.")

    async def _require_gone(
        self, task: Task, resource_id: str, refusal: NotFoundError | None
    ) -> None:
        """Waits until a resource is certainly deleted, also after a deletion answered with 404."""
        waits = pauses(*_PAUSES)
        for reads in itertools.count(1):
            resource = await find(self._arm, resource_id, self._api_version, task.until)
            if resource is None:
                waited()
                return
            if state_of(resource).lower() != "deleting" and reads > _READS_AFTER_DELETION:
                message = f"The deletion of {resource_id} ended, but it still exists"
                raise ProviderError(
                    f"{message}: {refusal}" if refusal else because(message, resource)
                )
            await self._wait(task, next(waits), f"{resource_id} is being deleted.")

    async def _wait(self, task: Task, seconds: float, reason: str) -> None:
        await wait_because_of(reason)
        async with self._arm.failing(task.until):
            await self._cancellation.watch(asyncio.sleep(seconds))

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

    async def _get(self, resource_id: str, until: float | None) -> dict[str, Any] | None:
        """Returns the outputs of the live resource; None if it does not exist."""
        resource = await find(self._arm, resource_id, self._api_version, until)
        return self._type.outputs_of(resource, self._api_version) if resource is not None else None

    async def _begin(
        self,
        task: Task,
        method: Method,
        resource_id: str,
        request_inputs: Callable[[], Awaitable[Values]] | None = None,
        delivery: Delivery | None = None,
        *,
        is_new: bool = False,
    ) -> Accepted:
        async def call() -> Accepted:
            place = (resource_id, self._api_version)
            if request_inputs is None:
                return await self._arm.begin(method, *place)
            inputs = await request_inputs()
            body, sent = self._type.body(inputs), inputs.get(HEADERS) or {}
            if is_new and not (delivery and delivery.is_unclear):
                sent = {**sent, ONLY_NEW: "*"}
            return await self._arm.begin(method, *place, body, sent, delivery)

        async with self._arm.failing(task.until):
            return await once_accepted(call, self._cancellation, self._names_new_feature)

    async def _finished(self, task: Task, accepted: Accepted, inputs: Values) -> dict[str, Any]:
        """Returns the outputs of a resource after the operation has ended."""
        resource = await self._arm.finish(accepted, task.until)
        return _finished(self._type.outputs_of(resource, self._api_version)) | _not_returned(inputs)

    async def _may_exist(self, resource_id: str) -> bool:
        """Whether a resource exists after an unclear PUT, or that is unknown.

        This also runs after a cancellation, so that the state contains what Azure has.
        """
        try:
            await self._arm.look(resource_id, self._api_version, loop_time() + _LOOK_TIMEOUT)
        except NotFoundError as error:
            return not reports_missing(error, resource_id)
        except ProviderError:
            return True
        return True


def _exists_already(aks_type: AksType, task: Task, resource_id: str) -> str:
    # A URN contains the types of the parents, but not their names.
    parent = " --parent 'parent=URN'" if "$" in task.urn else ""
    return (
        f"{resource_id} exists already, so {task.urn} cannot create it. If the state has it under "
        "this URN and a command replaces it (`pulumi state taint`, `--replace`), set the resource "
        "option `deleteBeforeReplace`. If you renamed it in the program, set its old name in the "
        "resource option `aliases`. If another resource of the state has it and leaves the "
        "program, remove that one in an update of its own, first. If a killed update of this stack "
        f"created it, run `AKS_PREVIEW_TAKE_OVER={resource_id} "
        "pulumi up`. If somebody else created it, delete it, or see what an import would "
        f"change: `pulumi import {aks_type.token} {task.name} {resource_id}{parent}`, then "
        f"`pulumi preview --diff`."
    )


def _cannot_move(aks_type: AksType, resource_id: str, inputs: Values) -> str:
    """Returns the error for a resource of azure-native, with the alternatives."""
    if _STREAMING in inputs and not inputs.get(HEADERS):
        names = aks_type.names_in(resource_id)
        return (
            f"azure-native created {resource_id}, and an existing resource cannot move to "
            "aks-preview: remove artifactStreaming, and turn it on with `az aks nodepool update "
            f"--resource-group {names['resourceGroupName']} --cluster-name {names['resourceName']} "
            f"--name {names['agentPoolName']} --enable-artifact-streaming`; azure-native leaves it "
            "on. Or create another pool with it."
        )
    streaming = " and artifactStreaming" if _STREAMING in inputs else ""
    return (
        f"azure-native created {resource_id} without custom headers, and an existing resource "
        f"cannot move to aks-preview: remove {_header_settings(inputs)}{streaming}; or "
        f"{_ALTERNATIVES[aks_type.name]}"
    )


def _header_settings(inputs: Values) -> str:
    """Names the settings that send the headers, for a message."""
    sent = inputs.get(HEADERS)
    names = map(str.lower, sent if isinstance(sent, Mapping) else ())
    if headers.SPECIALIZED_IMAGE.lower() in names:
        return f"{headers.SETTINGS_OF_SPECIALIZED_IMAGE}, and any {HEADERS}"
    return HEADERS


def header_mistakes(inputs: Values) -> Iterator[Mistake]:
    """Yields the mistakes in custom headers."""
    sent = inputs.get(HEADERS)
    if isinstance(sent, Mapping):
        yield from headers.header_mistakes(sent, HEADERS)
        for name in (name for name, value in sent.items() if value is None):
            yield Mistake(property_path(HEADERS, name), "has no value: remove it")


async def once_accepted(
    call: Callable[[], Awaitable[Result]],
    cancellation: Cancellation,
    names_new_feature: Callable[[str], bool] = lambda _: False,
) -> Result:
    """Repeats a call until Azure accepts it, and returns its result. The caller sets the deadline.

    It repeats the call while another operation is running, and while AKS does not know a newly
    registered feature. A cancellation stops the waiting at once, and a running call after seconds.
    """
    waits = pauses(*_PAUSES)
    while True:
        try:
            result = await cancellation.answered(call())
        except HttpResponseError as error:
            message = words(error)
            is_busy = error.status_code == 409 and _BUSY.search(message)
            if not is_busy and not names_new_feature(message):
                raise
            await wait_because_of(explained(error))
            pause = in_time(pause_of(error.response) or next(waits))
        else:
            waited()
            return result
        await cancellation.watch(asyncio.sleep(pause))


async def _known(inputs: Values) -> Values:
    return inputs


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


def _finished(outputs: dict[str, Any]) -> dict[str, Any]:
    """Marks the outputs of a resource as the result of a finished update."""
    return outputs if outputs.get(STATE) == SUCCEEDED else outputs | {_FINISHED: True}


def _was_finished(outputs: Values) -> bool:
    return outputs.get(STATE) == SUCCEEDED or outputs.get(_FINISHED) is True


def _why_unfinished(resource_id: str, old: Values, outputs: Values) -> str:
    """Returns why the next `pulumi up` must continue with a resource; empty if it need not.

    An operation of another client since the last finished update does not count.
    """
    state = str(outputs.get(STATE) or SUCCEEDED)
    is_others_operation = state not in _BROKEN and _was_finished(old)
    if state == SUCCEEDED or is_others_operation:
        return ""
    error = mapping(mapping(outputs.get("status")).get("provisioningError"))
    message = ": ".join(str(error[part]) for part in ("code", "message") if error.get(part))
    return (
        f"In Azure, {resource_id} is {state}{f', {message}' if message else ''}. "
        "The next `pulumi up` continues with it."
    )


def _not_returned(inputs: Values) -> dict[str, Any]:
    """Returns the inputs that Azure never returns. After an import, the state has no headers."""
    return {HEADERS: {}} | input_only(inputs)


def _unfinished(
    resource_id: str, inputs: Values, error: Exception, delivery: Delivery
) -> ResourceInitError:
    exists = "exists" if delivery.is_accepted else "may exist"
    return ResourceInitError(
        f"{resource_id} {exists}, but is not finished: {explained(error)}\n"
        "It stays in the state, and the next `pulumi up` continues with it.",
        resource_id=resource_id,
        properties=property_map({**inputs, **_not_returned(inputs)}),
    )
