"""Hooks that Pulumi calls right before a request for a resource, and that can refuse it."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import pulumi

from aks_catalogue.secrecy import with_secrets
from components.declared import as_output

_Guards = dict[tuple[Any, ...], pulumi.ResourceHook]
# By event loop, and so by program: each test has its own.
_GUARDS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Guards] = WeakKeyDictionary()


def guard(callback: Callable[[Any], Any], *, in_previews: bool = False) -> pulumi.ResourceHook:
    """Returns a hook whose callback raises an error to refuse the request.

    All resources of a program share the hook of a function, or of a method of equal objects: each
    registration is a request, and the SDK starts a server for it.
    """
    guards = _GUARDS.setdefault(asyncio.get_event_loop(), {})
    owner = getattr(callback, "__self__", None)
    key = (getattr(callback, "__func__", callback), owner, in_previews)
    if key not in guards:
        options = pulumi.ResourceHookOptions(on_dry_run=in_previews)
        # The number makes the name unique in the program.
        guards[key] = pulumi.ResourceHook(f"aks-gpu:guard:{len(guards)}", callback, options)
    return guards[key]


async def registered() -> None:
    """Waits until all hooks are registered with the engine.

    A program that fails earlier crashes in gRPC before it can report its error, because the SDK
    stops the server for hooks before it has started.
    """
    guards = _GUARDS.get(asyncio.get_running_loop(), {})
    waiting = [hook._registered for hook in guards.values()]
    await asyncio.gather(*waiting, return_exceptions=True)


async def resolved(properties: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the values of a hook's outputs and secrets; empty if any is unknown."""
    values = {name: _in_clear(value) for name, value in (properties or {}).items()}
    return await as_output(values).future() or {}


def _in_clear(value: Any) -> Any:
    """Returns a value without the marks of the engine, which secrets in it have."""
    return with_secrets(value, lambda secret: _in_clear(secret["value"]))
