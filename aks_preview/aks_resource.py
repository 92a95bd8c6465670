"""Creates, reads, updates and deletes node pools and clusters."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from azure.core.exceptions import HttpResponseError
from pulumi.provider.experimental.provider import DiffResponse

from aks_preview.aks_diff import aks_diff
from aks_preview.aks_types import HEADERS, REPLACE_ON_HEADERS, AksType, is_anothers, of_inputs_alone
from aks_preview.sameness import is_autoscaled, projected
from catalogue import headers, kept, nodes
from catalogue.mistakes import Mistake, property_path
from catalogue.shapes import mapping, mappings
from provider_kit.absence import find, reports_missing
from provider_kit.arm import Accepted, Arm, Method, NotFoundError, state_of
from provider_kit.cancellation import Cancellation
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.errors import because, explained, words
from provider_kit.exchange import ONLY_NEW, Delivery, pause_of
from provider_kit.provider import Found, Handler, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.shapes import mistakes
from provider_kit.values import holds_unknown, property_map
from provider_kit.waiting import in_time, loop_time, pauses, wait_because_of, waited

Result = TypeVar("Result")

# How AKS and ARM say that something else is done to the resource. Their codes do not tell: those
# of a quota that is used up and of a cluster that is stopped are the same.
_BUSY = re.compile("in ?progress|concurrent|aks-pending-operation", re.IGNORECASE)
_PAUSES = 0.5, 30.0
# Azure may show what it has deleted a while longer.
_LOOKS_AT_WHAT_IS_GONE = 5
_SECONDS_OF_A_READ = 600.0
_SECONDS_OF_A_LOOK = 30.0


# Where Azure's answers say how a resource is doing.
STATE, SUCCEEDED = "provisioningState", "Succeeded"
# Where a state says that what the program asked for was done, though somebody else was at work
# when the resource was seen last. Pulumi does not show names that begin so.
_FINISHED = "__finished"
# The status of a request that shall make something new, where there is something.
_IS_THERE = 412
# What may stand around an id that was pasted.
_AROUND_IDS = "/\"' \t\r\n"
# How many nodes a pool has, and who says so.
_NODES = ("count", "enableAutoScaling", "maxCount", "minCount")
_BROKEN = frozenset({"Canceled", "Failed"})

# What else can be done with headers that come too late than to remove them.
_WAYS_OUT = MappingProxyType(
    {
        "AgentPool": f"create another pool with them; or set {REPLACE_ON_HEADERS}: true, which "
        "deletes this pool and creates it again.",
        "ManagedCluster": "create another cluster with them.",
    }
)


class AksResource(Handler):
    """The handler of one of AKS's types."""

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
        # The resources of the program, by what they name in Azure.
        self._named: dict[str, str] = {}
        # What each of them has in Azure in this run: what it keeps, takes over, or has made.
        self._held: dict[str, str] = {}

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        yield from mistakes(self._type.inputs, inputs)
        yield from header_mistakes(inputs)

    def rivals(self, urn: str, inputs: Values) -> Iterator[Mistake]:
        """Two resources would both make it, and whichever goes takes it from the other."""
        names = {name: inputs[name] for name in self._type.path_names}
        if holds_unknown(names):
            return
        own = self._named[urn] = self._type.resource_id("", names).lower()
        for rival in [other for other, named in self._named.items() if named == own]:
            if rival != urn:
                yield Mistake(
                    self._type.path_names[-1],
                    f"names the same Azure resource as {rival}. Remove one of the two from the "
                    "program. If both are in the state, remove one with `pulumi state delete`: to "
                    "delete one in Azure deletes the other",
                )

    def require(self, resource_id: str) -> None:
        self._arm.require(resource_id)

    def diff(self, old: Recorded, inputs: Values) -> DiffResponse:
        if not is_anothers(self._type, old.outputs):
            return aks_diff(self._type, old.inputs, old.outputs, inputs)
        if inputs.get(REPLACE_ON_HEADERS) is True:
            return diff(old.inputs, inputs, replaces=[HEADERS])
        raise ProviderError(
            f"azure-native created {old.outputs.get('id')} without custom headers, and an existing "
            f"resource cannot move to aks-preview: remove {_asked_for(inputs)}; or "
            f"{_WAYS_OUT[self._type.name]}"
        )

    def compared(self, urn: str, resource_id: str, *, stays: bool) -> None:
        # Under an alias, what is replaced is deleted by its old URN: it is the new one's no more.
        self._held.pop(urn, None)
        if stays:
            self._hold(urn, resource_id)

    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        resource_id = self._type.resource_id(self._arm.subscription, inputs)
        if (there := await self._in_the_way(task, resource_id)) is not None:
            taken_over = self._arm.configuration.text("takeOver").lower().split(",")
            if resource_id.lower() not in ("/" + each.strip(_AROUND_IDS) for each in taken_over):
                raise ProviderError(_exists_already(self._type, task, resource_id))
            try:
                taken = await self.update(task, resource_id, Recorded({}, there), inputs)
            except ResourceInitError:
                raise
            except Exception:
                self._held.pop(task.urn, None)
                raise
            return resource_id, taken
        delivery = Delivery()
        try:
            accepted = await self._begin(
                task, "PUT", resource_id, lambda: _known(inputs), delivery, is_new=True
            )
            self._hold(task.urn, resource_id)
            return resource_id, await self._finished(task, accepted, inputs)
        except Exception as error:
            # After what Azure accepted, a 404 is no proof that there is nothing.
            if delivery.is_accepted or (delivery.is_unclear and await self._may_be(resource_id)):
                raise _unfinished(resource_id, inputs, error, delivery) from error
            if getattr(error.__cause__, "status_code", None) == _IS_THERE:
                told = _exists_already(self._type, task, resource_id)
                raise ProviderError(f"{told}\n{error}") from error
            raise

    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:
        place = self._place(resource_id)
        self._hold(task.urn, place)
        wanted = emptied(self._type.empty, old.inputs, inputs)
        is_finished = _was_finished(old.outputs)

        async def now() -> Values:
            """What to send, by the nodes that there are: AKS scales while this waits."""
            live = await self._get(place, task.until) or {}
            sent = as_others_left(wanted, old.inputs, live, is_finished=is_finished)
            require_nodes(sent, live)
            return sent

        delivery = Delivery()
        try:
            accepted = await self._begin(task, "PUT", place, now, delivery)
            return await self._finished(task, accepted, inputs)
        except Exception as error:
            if delivery.is_accepted or delivery.is_unclear:
                raise _unfinished(resource_id, inputs, error, delivery) from error
            raise

    async def read(self, resource_id: str, old: Recorded) -> Found | None:
        outputs = await self._get(self._place(resource_id), loop_time() + _SECONDS_OF_A_READ)
        if outputs is None:
            return None
        actual = self._type.inputs_of(outputs)
        if old.inputs:
            now = projected(self._type.inputs, old.inputs, actual) | of_inputs_alone(old.inputs)
        else:
            now = {
                name: value
                for name, value in actual.items()
                if not self._type.is_filled_in(name, value)
            }
        reason = _why_unfinished(resource_id, old.outputs, outputs)
        if _was_finished(old.outputs):
            outputs = _finished(outputs)
        return Found(resource_id, outputs | of_inputs_alone(old.outputs), now, reason)

    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:  # noqa: ARG002
        place = self._place(resource_id)
        if self._held.get(task.urn) == place.lower():
            del self._held[task.urn]
        for other, held in self._held.items():
            if held == place.lower() and other != task.urn:
                told = f"{place} is not deleted in Azure, because {other} uses it now."
                await self._log.warning(task.urn, told)
                return
        try:
            deleting = await self._begin(task, "DELETE", place)
            await self._arm.finish(deleting, task.until)
        except NotFoundError:
            # Whether that is so is looked at.
            pass
        await self._require_gone(task, place)

    def _hold(self, urn: str, resource_id: str) -> None:
        self._held[urn] = resource_id.lower()

    async def _in_the_way(self, task: Task, resource_id: str) -> dict[str, Any] | None:
        """The outputs of another resource of the name; one that is being deleted is waited for."""
        waits = pauses(*_PAUSES)
        while True:
            try:
                look = self._arm.look(resource_id, self._api_version, task.until)
                there = await self._cancellation.watch(look)
            except NotFoundError as error:
                if not reports_missing(error, resource_id):
                    raise
                waited()
                return None
            if state_of(there).lower() != "deleting":
                return self._type.outputs_of(there, self._api_version)
            await self._wait(task, next(waits), f"another {resource_id} is being deleted.")

    async def _require_gone(self, task: Task, resource_id: str) -> None:
        """Returns once a resource is gone for certain."""
        waits = pauses(*_PAUSES)
        for looked in itertools.count(1):
            there = await find(self._arm, resource_id, self._api_version, task.until)
            if there is None:
                waited()
                return
            if state_of(there).lower() != "deleting" and looked > _LOOKS_AT_WHAT_IS_GONE:
                told = f"The deletion of {resource_id} ended, but it still exists"
                raise ProviderError(because(told, there))
            await self._wait(task, next(waits), f"{resource_id} is being deleted.")

    async def _wait(self, task: Task, seconds: float, reason: str) -> None:
        await wait_because_of(reason)
        async with self._arm.failing(task.until):
            await self._cancellation.watch(asyncio.sleep(seconds))

    def _place(self, resource_id: str) -> str:
        """Returns an id as this provider writes it, whatever its case in the state.

        Refuses one of another type or of another subscription.
        """
        names = self._type.names_in(resource_id)
        self._arm.require(resource_id)
        return self._type.resource_id(self._arm.subscription, names)

    @property
    def _api_version(self) -> str:
        return self._arm.configuration.text("apiVersion")

    async def _get(self, resource_id: str, until: float | None) -> dict[str, Any] | None:
        """The outputs of a resource as it is; None if there is none."""
        answer = await find(self._arm, resource_id, self._api_version, until)
        return self._type.outputs_of(answer, self._api_version) if answer is not None else None

    async def _begin(
        self,
        task: Task,
        method: Method,
        resource_id: str,
        now: Callable[[], Awaitable[Values]] | None = None,
        delivery: Delivery | None = None,
        *,
        is_new: bool = False,
    ) -> Accepted:
        async def call() -> Accepted:
            place = (resource_id, self._api_version)
            if now is None:
                return await self._arm.begin(method, *place)
            inputs = await now()
            body, sent = self._type.body(inputs), inputs.get(HEADERS) or {}
            if is_new and not (delivery and delivery.is_unclear):
                sent = {**sent, ONLY_NEW: "*"}
            return await self._arm.begin(method, *place, body, sent, delivery)

        async with self._arm.failing(task.until):
            return await once_accepted(call, self._cancellation, self._names_new_feature)

    async def _finished(self, task: Task, accepted: Accepted, inputs: Values) -> dict[str, Any]:
        """The outputs of a resource, once what Azure accepted is done."""
        answer = await self._arm.finish(accepted, task.until)
        return _finished(self._type.outputs_of(answer, self._api_version)) | _unseen(inputs)

    async def _may_be(self, resource_id: str) -> bool:
        """Whether a PUT that may have arrived has left something; also if nobody can say.

        An update that is being cancelled still looks: what Azure has, the state must not forget.
        """
        try:
            await self._arm.look(resource_id, self._api_version, loop_time() + _SECONDS_OF_A_LOOK)
        except NotFoundError as error:
            return not reports_missing(error, resource_id)
        except ProviderError:
            return True
        return True


def _exists_already(aks_type: AksType, task: Task, resource_id: str) -> str:
    # A URN names the types of the parents, and not who they are.
    parent = " --parent 'parent=URN'" if "$" in task.urn else ""
    return (
        f"{resource_id} exists already, but is not in the state of this stack as {task.urn}. If "
        "you renamed it in the program, set its old name in the resource option `aliases`. If a "
        f"killed update of this stack created it, run `AKS_PREVIEW_TAKE_OVER={resource_id} "
        "pulumi up`. If somebody else created it, delete it, or see what an import would "
        f"change: `pulumi import {aks_type.token} {task.name} {resource_id}{parent}`, then "
        f"`pulumi preview --diff`."
    )


def _asked_for(inputs: Values) -> str:
    """The headers, and the settings that send one by themselves."""
    sent = inputs.get(HEADERS)
    names = map(str.lower, sent if isinstance(sent, Mapping) else ())
    if headers.SPECIALIZED_IMAGE.lower() in names:
        return f"{headers.SETTINGS_OF_SPECIALIZED_IMAGE}, and any {HEADERS}"
    return HEADERS


def header_mistakes(inputs: Values) -> Iterator[Mistake]:
    """Everything that is wrong with the headers themselves."""
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
    """The call's result, once nothing is in its way that passes; the caller bounds the time.

    What passes is another operation, and that AKS does not know a feature yet which is registered.
    A cancellation ends the waiting at once, and a call under way after some seconds.
    """
    waits = pauses(*_PAUSES)
    while True:
        try:
            result = await cancellation.answered(call())
        except HttpResponseError as error:
            said = words(error)
            is_busy = error.status_code == 409 and _BUSY.search(said)
            if not is_busy and not names_new_feature(said):
                raise
            await wait_because_of(explained(error))
            pause = in_time(pause_of(error.response) or next(waits))
        else:
            waited()
            return result
        await cancellation.watch(asyncio.sleep(pause))


async def _known(inputs: Values) -> Values:
    return inputs


def require_nodes(wanted: Values, live: Values) -> None:
    """Refuses to take a pool, or a cluster's own, from the autoscaler with other nodes."""
    there = _pools(live)
    pools = [(pool, there.get(name, {})) for name, pool in _pools(wanted).items()]
    for pool, actual in [(wanted, live), *pools]:
        name = pool.get("name") or pool.get("agentPoolName") or ""
        if reason := nodes.lost_nodes(name, pool, actual):
            raise ProviderError(reason)


def emptied(empty: Values, old: Values, new: Values) -> dict[str, Any]:
    """The new inputs, with nothing where something is taken out: AKS keeps what is left out."""
    gone = {name: nothing for name, nothing in empty.items() if old.get(name) and not new.get(name)}
    result = {**gone, **new}
    if "agentPoolProfiles" in new:
        before = _pools(old)
        result["agentPoolProfiles"] = [
            emptied(kept.EMPTY_POOL, before.get(name, {}), pool)
            for name, pool in _pools(new).items()
        ]
    return result


def as_others_left(
    wanted: Values, before: Values, live: Values, *, is_finished: bool
) -> dict[str, Any]:
    """What an update sends: its PUT must not undo what others did, and it is not about.

    That is how many nodes there are, and the tags of others. What was not finished is made as
    wanted, but for the nodes that the autoscaler has chosen.
    """
    result = dict(wanted)
    if is_finished and "count" in live and not _is_about_nodes(wanted, before):
        said = [name for name in _NODES if name in wanted or is_autoscaled(live)]
        result = {name: value for name, value in wanted.items() if name not in _NODES}
        result |= {name: live[name] for name in said if live.get(name) is not None}
    elif is_autoscaled(wanted) and "count" in live:
        result["count"] = live["count"]
    if "tags" in wanted:
        ours = {name.casefold() for name in (*mapping(before.get("tags")), *wanted["tags"])}
        theirs = mapping(live.get("tags"))
        result["tags"] = {
            **{name: value for name, value in theirs.items() if name.casefold() not in ours},
            **wanted["tags"],
        }
    if "agentPoolProfiles" in wanted:
        known, there = _pools(before), _pools(live)
        result["agentPoolProfiles"] = [
            as_others_left(pool, known.get(name, {}), there.get(name, {}), is_finished=is_finished)
            for name, pool in _pools(wanted).items()
        ]
    return result


def _is_about_nodes(wanted: Values, before: Values) -> bool:
    def said(values: Values, name: str) -> Any:
        return None if values.get(name) is False else values.get(name)

    return any(said(wanted, name) != said(before, name) for name in _NODES)


def _pools(cluster: Values) -> dict[str, Values]:
    pools = mappings(cluster.get("agentPoolProfiles"))
    return {pool["name"]: pool for pool in pools if isinstance(pool.get("name"), str)}


def _finished(outputs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a resource of which all is done that the program asked for."""
    return outputs if outputs.get(STATE) == SUCCEEDED else outputs | {_FINISHED: True}


def _was_finished(outputs: Values) -> bool:
    return outputs.get(STATE) == SUCCEEDED or outputs.get(_FINISHED) is True


def _why_unfinished(resource_id: str, before: Values, now: Values) -> str:
    """Why the next `pulumi up` has to go on with a resource; '' if it has not.

    What somebody else has begun since it was finished is not ours to go on with; its end is seen
    the next time.
    """
    state = str(now.get(STATE) or SUCCEEDED)
    has_begun_since = state not in _BROKEN and _was_finished(before)
    if state == SUCCEEDED or has_begun_since:
        return ""
    error = mapping(mapping(now.get("status")).get("provisioningError"))
    said = ": ".join(str(error[part]) for part in ("code", "message") if error.get(part))
    return (
        f"In Azure, {resource_id} is {state}{f', {said}' if said else ''}. "
        "The next `pulumi up` continues with it."
    )


def _unseen(inputs: Values) -> dict[str, Any]:
    """What Azure never gives back. A state without it is of an import: nobody knows its headers."""
    return {HEADERS: {}} | of_inputs_alone(inputs)


def _unfinished(
    resource_id: str, inputs: Values, error: Exception, delivery: Delivery
) -> ResourceInitError:
    exists = "exists" if delivery.is_accepted else "may exist"
    return ResourceInitError(
        f"{resource_id} {exists}, but is not finished: {explained(error)}\n"
        "It stays in the state, and the next `pulumi up` continues with it.",
        resource_id=resource_id,
        properties=property_map({**inputs, **_unseen(inputs)}),
    )
