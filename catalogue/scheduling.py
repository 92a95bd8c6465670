"""How Kubernetes decides by labels and taints which nodes a pod may go to."""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

# The effects of taints that keep a pod away.
BLOCKING = ("NoSchedule", "NoExecute")

# What a node affinity asks of a label, by operator: the label's value, None where there is no such
# label, and the values that the affinity names.
LABEL_TESTS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = MappingProxyType(
    {
        "In": lambda value, wanted: value in wanted,
        "NotIn": lambda value, wanted: value not in wanted,
        "Exists": lambda value, _: value is not None,
        "DoesNotExist": lambda value, _: value is None,
        "Gt": lambda value, wanted: _number(value) > _number(*wanted[:1]),
        "Lt": lambda value, wanted: _number(value) < _number(*wanted[:1]),
    }
)


def _number(text: str | None = None) -> float:
    """Not a number is neither above nor below another one."""
    try:
        return int(text or "")
    except ValueError:
        return math.nan
