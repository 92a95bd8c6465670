"""faults.json: scripted faults of requests and of nodes.

The file is in the cloud's home: a list of objects. A change applies from the next request on, and
to nodes at once. Without the file there are no faults. An object with `node` is a condition that
nodes report:

- `node`: a regular expression, searched for in the names of nodes, such as `aks-gpu-`;
- `condition` and `message`: the condition, such as `XIDErrors`, which is true as long as it is in
  the file, and then false.

The keys of every other object:

- `method` and `path`: regular expressions for the requests that the fault applies to; `path` is
  searched for, `method` has to match whole;
- `times`: how many requests it applies to; by default all;
- `status`, `headers` and `body`: the response, in place of ARM's;
- `delay`: the response is late by that many seconds;
- `drop`: the connection is closed without a response, `before` or `after` ARM serves the request;
- `operation`: `"stuck"` keeps the operation that the request starts in progress until the script
  changes; an error with a code and a message makes the operation fail with it; `{"passing": error}`
  shows that error with every status, also with the success, as AKS sometimes does;
- `without`: names of headers to leave out of the response, such as `Retry-After`, which AKS never
  sends.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag

from aks_catalogue.device_plugin import CONFLICT_CONDITION
from rehearsal.arm import operations
from rehearsal.arm.state import Store
from rehearsal.control_planes.desired_state import NodeFault
from rehearsal.files import WatchedFile

# The kubelet's own would be overwritten at once, and so would the rehearsal's.
_CONDITION = re.compile(
    rf"(?!(Ready|NetworkUnavailable|{CONFLICT_CONDITION}|\w+Pressure)$)[A-Za-z][\w.-]{{0,62}}",
    re.ASCII,
)
_OPERATION = re.compile(r"/operations/([^/?]+)")


def _expression(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


def _condition(text: str) -> str:
    if not _CONDITION.fullmatch(text):
        raise ValueError("not a condition's name, or one that the kubelet or the rehearsal sets")
    return text


_Expression = Annotated[str, AfterValidator(_expression)]
_HeaderValue = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*$")]


@dataclass
class Fault:
    """One fault of the script; `times` counts down each time it applies."""

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

    def applies_to(self, method: str, path: str) -> bool:
        return (
            self.times > 0
            and re.fullmatch(self.method, method) is not None
            and re.search(self.path, path, re.IGNORECASE) is not None
        )

    def answer(self) -> web.Response | None:
        """Returns the scripted response; None if ARM serves the request."""
        if self.status is None:
            return None
        return web.json_response(self.body, status=self.status, headers=self.headers)

    def change(self, store: Store, answer: web.StreamResponse) -> None:
        """Removes headers of a response, and makes its operation fail or hang, as scripted."""
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


@dataclass(frozen=True, kw_only=True)
class _NodeFault(NodeFault):
    __pydantic_config__ = ConfigDict(extra="forbid")

    node: _Expression
    condition: Annotated[str, AfterValidator(_condition)]


def _kind(entry: Any) -> str:
    return "node" if isinstance(entry, dict) and "node" in entry else "request"


_Entry = Annotated[
    Annotated[Fault, Tag("request")] | Annotated[_NodeFault, Tag("node")], Discriminator(_kind)
]


class FaultScript:
    """The faults of faults.json; when the file changes, their counters restart."""

    def __init__(self, path: Path, on_change: Callable[[], None]) -> None:
        self._faults: list[_Entry] = []
        self._file = WatchedFile(path, list[_Entry], self._faults)
        self._on_change = on_change

    def complaint(self) -> str | None:
        """Returns what is wrong with the file; None if it is valid."""
        self._file.read()
        return self._file.complaint

    def entries(self) -> list[_Entry]:
        """Returns all entries of the file."""
        return self._file.read()

    def node_faults(self) -> tuple[NodeFault, ...]:
        """Returns the conditions that nodes are to report."""
        return tuple(fault for fault in self._file.read() if isinstance(fault, NodeFault))

    def next_fault(self, method: str, path: str) -> Fault:
        """Returns the fault that applies to a request, and counts it; otherwise an empty one."""
        faults = self._file.read()
        if faults is not self._faults:
            self._faults = faults
            self._on_change()
        for fault in faults:
            if isinstance(fault, Fault) and fault.applies_to(method, path):
                fault.times -= 1
                return fault
        return Fault()
