"""A script of faults: what goes wrong, where, and how often.

It is `faults.json` in the cloud's home, a list of objects, and takes effect at the next request
whenever it changes. Without the file nothing goes wrong. The keys of each object:

- `method` and `path`, a regular expression to search for in the path: which requests are affected;
- `times`: how many of them, by default all;
- `status`, `headers` and `body`: the answer, instead of the one that ARM would give;
- `delay`: how many seconds the answer is late;
- `drop`: the connection ends without an answer, `before` or `after` ARM has served the request;
- `operation`: `"stuck"` keeps the operation that the request starts under way until the script
  changes; an error with a code and a message makes the operation fail with it; `{"passing": error}`
  shows that error beside every status, also beside the success, as AKS does at times;
- `without`: names of headers that the answer lacks, such as `Retry-After`, which AKS never sends.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import AfterValidator, ConfigDict, Field

from rehearsal.arm import operations
from rehearsal.arm.state import Store
from rehearsal.files import WatchedFile

_OPERATION = re.compile(r"/operations/([^/?]+)")


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return text


_Expression = Annotated[str, AfterValidator(_expression)]
_HeaderValue = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*$")]


@dataclass
class Fault:
    """One line of the script; `times` counts down as it strikes."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    method: _Expression = ".*"
    path: _Expression = ""
    times: float = float("inf")
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    headers: dict[str, _HeaderValue] = field(default_factory=dict)
    body: Any = None
    delay: Annotated[float, Field(ge=0, le=3600)] = 0.0
    drop: Literal["before", "after"] | None = None
    operation: Literal["stuck"] | dict[str, Any] | None = None
    without: tuple[str, ...] = ()

    def strikes(self, method: str, path: str) -> bool:
        return (
            self.times > 0
            and re.fullmatch(self.method, method) is not None
            and re.search(self.path, path, re.IGNORECASE) is not None
        )

    def answer(self) -> web.Response | None:
        """Returns the scripted answer; None if ARM is to answer."""
        if self.status is None:
            return None
        return web.json_response(self.body, status=self.status, headers=self.headers)

    def steer(self, store: Store, answer: web.StreamResponse) -> None:
        """Makes the operation that an answer names fail or hang, if the script says so."""
        for name in self.without:
            answer.headers.popall(name, None)
        started = _OPERATION.search(answer.headers.get("Azure-AsyncOperation", ""))
        if self.operation is None or started is None:
            return
        with store.transaction():
            if self.operation == "stuck":
                operations.hold(store, started[1])
            elif operations.PASSING in self.operation:
                operations.accompany(store, started[1], self.operation[operations.PASSING])
            else:
                operations.fail_when_due(store, started[1], self.operation)


class FaultScript:
    """The faults of a file; when the file changes, their counts begin anew."""

    def __init__(self, path: Path, on_change: Callable[[], None]) -> None:
        self._faults: list[Fault] = []
        self._file = WatchedFile(path, list[Fault], self._faults)
        self._on_change = on_change

    def complaint(self) -> str | None:
        """What is wrong with the file, if anything is."""
        self._file.read()
        return self._file.complaint

    def take(self, method: str, path: str) -> Fault:
        """Returns the fault that strikes a request, and counts it; else one that does nothing."""
        faults = self._file.read()
        if faults is not self._faults:
            self._faults = faults
            self._on_change()
        for fault in faults:
            if fault.strikes(method, path):
                fault.times -= 1
                return fault
        return Fault()
