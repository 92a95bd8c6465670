"""A script of faults: what goes wrong, where, and how often.

It lies in the cloud's home as `faults.json`, a list of objects, and counts from the next request
on whenever it is written anew. Without the file nothing goes wrong. Each object says

- `method` and `path`, a regular expression that is looked for in the path: which requests it meets;
- `times`: how many of them, all if it is not said;
- `status`, `headers` and `body`: the answer, instead of the one that ARM would give;
- `delay`: how many seconds the answer is late;
- `drop`: `before` or `after` ARM has done what was asked, the connection ends without an answer;
- `operation`: `"stuck"`, and the operation that the request starts goes on until the script
  changes; or an error of a code and a message, and it ends Failed with that.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

from rehearsal.arm import operations
from rehearsal.arm.state import Store

_OPERATION = re.compile(r"/operations/([^/?]+)")


@dataclass
class Fault:
    """One line of the script; `times` counts down as it strikes."""

    method: str = ".*"
    path: str = ""
    times: float = float("inf")
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    delay: float = 0.0
    drop: Literal["before", "after"] | None = None
    operation: Any = None

    def strikes(self, method: str, path: str) -> bool:
        return (
            self.times > 0
            and re.fullmatch(self.method, method) is not None
            and re.search(self.path, path, re.IGNORECASE) is not None
        )

    def answer(self) -> web.Response | None:
        """What is answered instead; None if ARM itself shall answer."""
        if self.status is None:
            return None
        return web.json_response(self.body, status=self.status, headers=self.headers)

    def steer(self, store: Store, answer: web.StreamResponse) -> None:
        """Lets the operation that an answer names go wrong."""
        started = _OPERATION.search(answer.headers.get("Azure-AsyncOperation", ""))
        if self.operation is None or started is None:
            return
        with store.transaction():
            if self.operation == "stuck":
                operations.hold(store, started[1])
            else:
                operations.doom(store, started[1], self.operation)


NO_FAULT = Fault()


class FaultScript:
    """The faults of a file, read anew whenever it has changed."""

    def __init__(self, path: Path, on_change: Callable[[], None]) -> None:
        self._path = path
        self._on_change = on_change
        self._read: tuple[int, int] | None = None
        self._faults: list[Fault] = []

    def take(self, method: str, path: str) -> Fault:
        """The fault that strikes a request, which it then has done once."""
        self._refresh()
        for fault in self._faults:
            if fault.strikes(method, path):
                fault.times -= 1
                return fault
        return NO_FAULT

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
            seen = (found.st_mtime_ns, found.st_ino)
        except FileNotFoundError:
            seen = None
        if seen == self._read:
            return
        self._faults = (
            [Fault(**said) for said in json.loads(self._path.read_text())] if seen else []
        )
        self._read = seen
        self._on_change()
