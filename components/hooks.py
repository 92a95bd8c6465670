"""Hooks that Pulumi calls right before a request for a resource, and that can refuse it."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import pulumi

# Numbers make the names of hooks unique in the program; names of resources are not.
_NUMBERS = count(1)
_GUARDS: list[pulumi.ResourceHook] = []


def guard(callback: Callable[[Any], Any], *, in_previews: bool = False) -> pulumi.ResourceHook:
    """Returns a hook whose callback raises an error to refuse the request."""
    hook = pulumi.ResourceHook(
        f"aks-gpu:guard:{next(_NUMBERS)}",
        callback,
        pulumi.ResourceHookOptions(on_dry_run=in_previews),
    )
    _GUARDS.append(hook)
    return hook


async def registered() -> None:
    """Waits until all hooks are registered with the engine.

    A program that fails earlier crashes in gRPC before it can report its error, because the SDK
    stops the server for hooks before it has started.
    """
    loop = asyncio.get_running_loop()
    # Each test has its own event loop.
    waiting = [hook._registered for hook in _GUARDS if hook._registered.get_loop() is loop]
    await asyncio.gather(*waiting, return_exceptions=True)
