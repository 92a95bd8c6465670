"""What is called right before a request for a resource, and may refuse it."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pulumi

# A hook's name is one of the whole program, and two components may have resources of one name.
_NUMBERS = count(1)


def guard(callback: Callable[[Any], Any], *, in_previews: bool = False) -> pulumi.ResourceHook:
    """Returns a hook that raises where a request must not be."""
    return pulumi.ResourceHook(
        f"aks-gpu:guard:{next(_NUMBERS)}",
        callback,
        pulumi.ResourceHookOptions(on_dry_run=in_previews),
    )
