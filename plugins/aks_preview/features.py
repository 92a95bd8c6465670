"""Registers preview features of Azure resource providers, and waits until they are registered."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi.provider.experimental.provider import DiffResponse

from aks_catalogue.mistakes import Mistake
from provider_kit.arm import Arm, Change, NotFoundError, unchanged
from provider_kit.arm_types import ArmType
from provider_kit.diff import diff
from provider_kit.engine_log import EngineLog
from provider_kit.errors import explained
from provider_kit.provider import Handler, Live, Recorded, Task, Values
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.values import property_map
from provider_kit.waiting import loop_time, pauses

NAMESPACE: Final = "providerNamespace"
FEATURE: Final = "featureName"
UNREGISTER: Final = "unregisterOnDelete"
STATE: Final = "state"

FEATURE_TYPE: Final = "aks-preview:features:FeatureRegistration"
_REGISTERED = "Registered"
_NOT_REGISTERED = frozenset({"NotRegistered", "NotSpecified", "Unregistered", "Unregistering"})
_TYPE = ArmType(
    name="FeatureRegistration",
    path=f"/providers/Microsoft.Features/providers/{{{NAMESPACE}}}/features/{{{FEATURE}}}",
)
# For how long AKS may not know a newly registered feature.
_NEW_SECONDS = 600.0
_PAUSES = (0.25, 10.0)
_READ = 600.0
_FEATURES_VERSION, _PROVIDERS_VERSION = "2021-07-01", "2025-04-01"


class FeatureRegistration(Handler):
    """The handler of feature registrations."""

    def __init__(self, arm: Arm, log: EngineLog) -> None:
        self._arm = arm
        self._log = log
        self._registered: dict[str, float] = {}

    def is_new(self, message: str) -> bool:
        """Whether a message of Azure names a newly registered feature.

        AKS can still refuse the feature for a while after its provider is registered again.
        """
        return any(
            feature.lower() in message.lower() and loop_time() - registered_at < _NEW_SECONDS
            for feature, registered_at in self._registered.items()
        )

    def mistakes(self, inputs: Values) -> Iterator[Mistake]:
        yield from _TYPE.name_mistakes(inputs)

    def require(self, resource_id: str) -> None:
        self._arm.require(resource_id)

    def diff(self, old: Recorded, inputs: Values) -> DiffResponse:
        same = {
            name: old.inputs[name]
            for name in _TYPE.path_names
            if str(old.inputs.get(name)).casefold() == str(inputs.get(name)).casefold()
        }
        return diff(old.inputs, {**inputs, **same}, replaces=_TYPE.path_names)

    async def create(self, task: Task, inputs: Values) -> tuple[str, Values]:
        """Registers the feature, and then its resource provider again, which activates it."""
        namespace, feature = inputs[NAMESPACE], inputs[FEATURE]
        resource_id = _TYPE.resource_id(self._arm.subscription, inputs)
        provider = f"/subscriptions/{self._arm.subscription}/providers/{namespace}"
        registration = _post(f"{resource_id}/register", _FEATURES_VERSION)
        try:
            await self._arm.change(registration, task.until)
            await self._wait(task, resource_id, _FEATURES_VERSION, f"{feature} of {namespace}")
            await self._arm.change(_post(f"{provider}/register", _PROVIDERS_VERSION), task.until)
            await self._wait(task, provider, _PROVIDERS_VERSION, f"The provider {namespace}")
        except Exception as error:
            if not (registration.accepted or registration.is_unclear):
                raise
            raise ResourceInitError(
                f"{explained(error)}\nThe next `pulumi up` continues with it.",
                resource_id=resource_id,
                properties=property_map(inputs),
            ) from error
        self._registered[feature] = loop_time()
        return resource_id, {**inputs, STATE: _REGISTERED}

    async def update(self, task: Task, resource_id: str, old: Recorded, inputs: Values) -> Values:  # noqa: ARG002 (the type has no other outputs)
        """Continues an unfinished registration. Otherwise there is nothing to change in Azure."""
        if old.outputs.get(STATE) == _REGISTERED:
            return {**inputs, STATE: _REGISTERED}
        return (await self.create(task, inputs))[1]

    async def read(self, resource_id: str, old: Recorded) -> Live | None:
        self._arm.require(resource_id)
        answer = await self._arm.find(resource_id, _FEATURES_VERSION, loop_time() + _READ)
        if answer is None or (state := _state(answer)) in _NOT_REGISTERED:
            return None
        inputs = old.inputs or _TYPE.names_in(resource_id)
        # Otherwise the last `create` ended before it registered the resource provider again.
        was_activated = not old.inputs or old.outputs.get(STATE) == _REGISTERED
        if state == _REGISTERED and was_activated:
            return Live({**inputs, STATE: state}, inputs)
        reason = (
            f"{resource_id} is {state}, or its resource provider is not registered again yet. The "
            "next `pulumi up` continues with it."
        )
        return Live(inputs, inputs, reason)

    async def delete(self, task: Task, resource_id: str, outputs: Values) -> None:
        """Unregisters the feature if `unregisterOnDelete` is set. Otherwise warns that it stays."""
        namespace, feature = outputs[NAMESPACE], outputs[FEATURE]
        if not outputs.get(UNREGISTER):
            await self._log.warning(
                task.urn,
                f"{feature} of {namespace} stays registered, because others in the subscription "
                f"may use it. To unregister it, set {UNREGISTER}, or run `az feature unregister "
                f"--namespace {namespace} --name {feature}`.",
            )
            return
        self._arm.require(resource_id)
        try:
            change = _post(f"{resource_id}/unregister", _FEATURES_VERSION)
            await self._arm.change(change, task.until)
        except NotFoundError as error:
            if not error.is_gone:
                raise

    async def _wait(self, task: Task, path: str, api_version: str, what: str) -> None:
        """Waits until a feature or provider is registered. Reports each state."""
        state, waits = "", pauses(*_PAUSES)
        while state != _REGISTERED:
            if state:
                await self._arm.pause(next(waits), task.until)
            answer = await self._arm.find(path, api_version, task.until)
            before, state = state, _state(answer or {"id": path})
            if state != before:
                await self._log.info(task.urn, f"{what} is {state}.")


def _post(path: str, api_version: str) -> Change:
    return Change("POST", path, api_version, unchanged())


def _state(answer: Mapping[str, Any]) -> str:
    """Returns the state of a feature or a provider."""
    state = (answer.get("properties") or {}).get("state") or answer.get("registrationState")
    if not isinstance(state, str):
        raise ProviderError(f"Azure did not return the state of {answer.get('id')}.")
    return state
