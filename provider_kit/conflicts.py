"""Waits while another operation runs on the same resource, as AKS asks its callers to."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from azure.core.exceptions import HttpResponseError

from provider_kit.cancellation import Cancellation

Result = TypeVar("Result")

_RUNNING_OPERATION = frozenset({"OperationNotAllowed", "AnotherOperationInProgress", "Conflict"})
_SECONDS_BETWEEN_TRIES = 2.0


async def wait_out_conflicts(
    call: Callable[[], Awaitable[Result]], cancellation: Cancellation
) -> Result:
    """The call's result, once no other operation is in its way; the caller bounds the time.

    A cancellation ends the waiting, never a call under way: Azure may have accepted that.
    """
    while True:
        try:
            return await call()
        except HttpResponseError as error:
            if error.status_code != 409 or _code(error) not in _RUNNING_OPERATION:
                raise
        await cancellation.watch(asyncio.sleep(_SECONDS_BETWEEN_TRIES))


def _code(error: HttpResponseError) -> str | None:
    return error.error.code if error.error else None
