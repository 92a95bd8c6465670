"""The plug-in's requests to the rehearsal's ARM server, with azure-native's error messages."""

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from azure.core.exceptions import HttpResponseError

from provider_kit.arm import Arm, Change, Method, NotFoundError, unchanged
from provider_kit.serving import ProviderError
from rehearsal.offline_plug_ins.azure_native.native_types import (
    TYPES,
    NativeType,
    without_version,
)
from rehearsal.offline_plug_ins.azure_native.properties import outputs


class AcceptedError(ProviderError):
    """Azure accepted a write whose operation then failed."""


class NativeArm(Arm):
    """Fails as azure-native does where the operation of a request cannot be read."""

    # azure-native's, by the SDK for Go.
    retries = 3

    async def _without_operation(self, error: Exception) -> None:
        raise error

    async def get(
        self, resource_id: str, api_version: str, until: float | None = None
    ) -> dict[str, Any] | None:
        """Returns a resource as ARM returns it; None for any 404."""
        try:
            return await self._cancellation.watch(self.look(resource_id, api_version, until))
        except NotFoundError:
            return None


async def write(
    arm: NativeArm,
    request: tuple[Method, dict[str, Any]],
    resource_id: str,
    api_version: str,
    until: float | None,
) -> dict[str, Any]:
    """Returns the response once the write is complete. It does not wait on conflicts."""
    method, body = request
    change = Change(method, resource_id, api_version, unchanged(body))
    try:
        return await arm.change(change, until)
    except ProviderError as error:
        if change.accepted:
            raise AcceptedError(str(error)) from error
        raise


def words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "operation timed out"
    if isinstance(error, HttpResponseError) and error.response is not None:
        return _answer(error.response)
    return str(error)


def _answer(response: Any) -> str:
    """Returns the code and message of an error; for AKS's flat errors, the whole body."""
    text = response.text()
    try:
        content = json.loads(text)
    except ValueError:
        content = {}
    top = content if isinstance(content, dict) else {}
    error = top.get("error")
    # In errors of the sign-in, `error` is a text.
    nested = error if isinstance(error, dict) else {}
    code = nested.get("code") or top.get("code") or ""
    message = nested.get("message") or text
    return f'Status={response.status_code} Code="{code}" Message="{message}"'


Function = Callable[[Arm, Mapping[str, Any]], Awaitable[dict[str, Any]]]


def _getter(native_type: NativeType) -> Function:
    async def get(arm: Arm, inputs: Mapping[str, Any]) -> dict[str, Any]:
        resource_id = native_type.resource_id(arm.subscription, inputs)
        return outputs(native_type, await arm.look(resource_id, native_type.api_version))

    return get


async def _credentials(whose: str, arm: Arm, inputs: Mapping[str, Any]) -> dict[str, Any]:
    cluster = TYPES["azure-native:containerservice:ManagedCluster"]
    path = f"{cluster.resource_id(arm.subscription, inputs)}/listCluster{whose}Credential"
    return await arm.content("POST", path, cluster.api_version)


async def _client_config(arm: Arm, _: Mapping[str, Any]) -> dict[str, Any]:
    """Returns who is signed in. In the rehearsal the tenant is that of its subscription."""
    subscription = await arm.look(f"/subscriptions/{arm.subscription}", "2022-12-01")
    client = os.environ.get("ARM_CLIENT_ID", "")
    names = {"clientId": client, "objectId": client, "subscriptionId": arm.subscription}
    return names | {"tenantId": subscription["tenantId"]}


def function_of(token: str) -> Function | None:
    """Returns a function of azure-native; `getSubnet` reads a Subnet."""
    token = without_version(token)
    if token in _FUNCTIONS:
        return _FUNCTIONS[token]
    package, _, name = token.rpartition(":")
    resource = f"{package}:{name.removeprefix('get')}"
    return _getter(TYPES[resource]) if name.startswith("get") and resource in TYPES else None


_FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "azure-native:authorization:getClientConfig": _client_config,
        **{
            f"azure-native:containerservice:listManagedCluster{whose}Credentials": partial(
                _credentials, whose
            )
            for whose in ("Admin", "User")
        },
    }
)
