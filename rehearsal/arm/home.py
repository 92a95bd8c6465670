"""Where one rehearsal cloud keeps what it owns."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Where a server says which one it is, so that whoever holds its home knows it by more than its
# process number.
PRESENCE = "/rehearsal"


@dataclass(frozen=True)
class Home:
    """The files of one state folder, by what they are."""

    path: Path

    @property
    def ca_certificate(self) -> Path:
        return self.path / "ca.pem"

    @property
    def ca_key(self) -> Path:
        return self.path / "ca-key.pem"

    @property
    def ca_bundle(self) -> Path:
        return self.path / "ca-bundle.pem"

    @property
    def server_certificate(self) -> Path:
        return self.path / "server.pem"

    @property
    def server_key(self) -> Path:
        return self.path / "server-key.pem"

    @property
    def token_key(self) -> Path:
        return self.path / "token-key.pem"

    @property
    def principal(self) -> Path:
        return self.path / "principal.json"

    @property
    def database(self) -> Path:
        return self.path / "arm.sqlite"

    @property
    def request_log(self) -> Path:
        return self.path / "requests.jsonl"

    @property
    def faults(self) -> Path:
        return self.path / "faults.json"

    @property
    def offers(self) -> Path:
        return self.path / "offers.json"

    @property
    def era(self) -> Path:
        return self.path / "era"

    @property
    def kubernetes(self) -> Path:
        return self.path / "kubernetes"

    @property
    def server_log(self) -> Path:
        return self.path / "server.log"

    @property
    def server(self) -> Path:
        return self.path / "server.json"

    @property
    def server_lock(self) -> Path:
        return self.path / "server.lock"

    @property
    def start_lock(self) -> Path:
        return self.path / "start.lock"


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file; None when there is no such file."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    if not isinstance(content, dict):
        raise TypeError(f"{path} does not hold a JSON object.")
    return content


def write_whole(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Writes a file so that a reader sees all of it or none, under its final mode."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    draft.replace(path)


def write_json(path: Path, content: dict[str, Any], mode: int = 0o644) -> None:
    write_whole(path, json.dumps(content, indent=2).encode() + b"\n", mode)
