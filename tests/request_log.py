"""What a test has sent to a cloud, by the cloud's own log."""

import json
from pathlib import Path
from typing import Any


class RequestLog:
    """The requests that have reached a cloud since this was made.

    Tests share clouds and run in any order: what an earlier test has sent is no test's business.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start = file.stat().st_size if file.exists() else 0

    def lines(self) -> list[dict[str, Any]]:
        if not self._file.exists():
            return []
        with self._file.open("rb") as log:
            log.seek(self._start)
            written = log.read()
        # The server may be in the middle of a line.
        whole = written[: written.rfind(b"\n") + 1]
        return [json.loads(line) for line in whole.splitlines()]
