"""From a method and a path to the service that answers it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rehearsal.arm import errors

if TYPE_CHECKING:
    from rehearsal.arm.call import Answer, Call


@dataclass(frozen=True)
class Route:
    """One method of one path below a subscription; `{name}` in it stands for one segment."""

    method: str
    template: str
    handler: "Callable[[Call], Answer]"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.template), re.IGNORECASE)


def match(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route of a request, and the names in its path in the case they were sent in."""
    path_known = False
    for route in routes:
        found = route.pattern.fullmatch(path)
        if found and route.method == method:
            return route, found.groupdict()
        path_known = path_known or found is not None
    if path_known:
        raise errors.ArmError(errors.NO_METHOD, method=method, path=path)
    raise errors.ArmError(errors.NO_ROUTE, path=path)
