"""The fault script of a rehearsal cloud, as tests write it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Faults:
    """What goes wrong on a cloud, until it is lifted."""

    def __init__(self, home: Path) -> None:
        self._file = home / "faults.json"

    def script(self, *faults: Mapping[str, Any]) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(json.dumps(faults))
        draft.replace(self._file)

    def lift(self) -> None:
        self._file.unlink(missing_ok=True)
