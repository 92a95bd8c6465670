"""What is called right before a request for a resource, and may refuse it."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import pulumi

# A hook's name is one of the whole program, and two components may have resources of one name.
_NUMBERS = count(1)
_GUARDS: list[pulumi.ResourceHook] = []


def guard(callback: Callable[[Any], Any], *, in_previews: bool = False) -> pulumi.ResourceHook:
    """Returns a hook that raises where a request must not be."""
    hook = pulumi.ResourceHook(
        f"aks-gpu:guard:{next(_NUMBERS)}",
        callback,
        pulumi.ResourceHookOptions(on_dry_run=in_previews),
    )
    _GUARDS.append(hook)
    return hook


async def registered() -> None:
    """Waits until the engine knows the hooks that there are.

    A program that fails before that does not come to say why: the SDK stops a server for hooks that
    has not started yet, and gRPC crashes.
    """
    loop = asyncio.get_running_loop()
    # Tests have a loop each.
    waiting = [hook._registered for hook in _GUARDS if hook._registered.get_loop() is loop]
    await asyncio.gather(*waiting, return_exceptions=True)
