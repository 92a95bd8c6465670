"""What a test has sent to a cloud, by the cloud's own log."""

import json
from pathlib import Path
from typing import Any

from rehearsal.files import log_length, read_log


class RequestLog:
    """The requests that have reached a cloud since this was made.

    Tests share clouds and run in any order: what an earlier test has sent is no test's business.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start = log_length(file)

    def lines(self) -> list[dict[str, Any]]:
        written = read_log(self._file)[self._start :]
        # The server may be in the middle of a line.
        whole = written[: written.rfind(b"\n") + 1]
        return [json.loads(line) for line in whole.splitlines()]
