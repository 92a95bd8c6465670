"""A site of releases on the loopback address, with troubles, and a table of pins for it."""

import csv
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path

import pytest

from machine_setup import download, pins
from machine_setup.pins import SITES, VERSIONS, Pin

SCRIPT = b"#!/bin/sh\n"


@dataclass
class Site:
    """The files under their paths, what was asked for, and what happens to the next answers.

    A trouble is a status, or the number of bytes after which an answer breaks off.
    """

    table: Path
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)

    def publish(self, name: str, platform: str, path: str, content: bytes) -> Pin:
        """Publishes a file, and pins it."""
        self.files[path] = content
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        pin = Pin(name, VERSIONS[name], platform, path, digest, "")
        self.write([*self.pins(), pin])
        return pin

    def pins(self) -> list[Pin]:
        return pins.pins(self.table) if self.table.exists() else []

    def write(self, rows: list[Pin]) -> None:
        with self.table.open("w", newline="") as output:
            writer = csv.writer(output)
            writer.writerow(one.name for one in fields(Pin))
            writer.writerows(map(astuple, rows))

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path, byte_range = request.path.removeprefix("/"), request.headers["Range"]
        self.asked.append((path, byte_range))
        trouble = self.troubles.pop(0) if self.troubles else None
        content = self.files.get(path)
        if content is None or (trouble and 400 <= trouble < 600):
            request.send_error(trouble or 404)
            return
        begin = int(byte_range.removeprefix("bytes=").rstrip("-")) if byte_range else 0
        if begin >= len(content) > 0:
            request.send_error(416)
            return
        request.send_response(206 if byte_range else 200)
        request.send_header("Content-Length", str(len(content) - begin))
        request.end_headers()
        with suppress(OSError):
            request.wfile.write(content[begin:][:trouble])


@contextmanager
def served(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site that stands for all of them; nobody waits before a further try."""
    site = Site(folder / "pins.csv")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        for _, variable in SITES.values():
            patch.setenv(variable, f"http://127.0.0.1:{server.server_port}")
        patch.setattr(pins, "TABLE", site.table)
        patch.setattr(download, "PAUSES", (0.0,) * 4)
        yield site
        server.shutdown()
        thread.join()


def archive(members: dict[str, bytes]) -> bytes:
    """A tar.gz of executables."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, script in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(script), 0o755
            tar.addfile(member, io.BytesIO(script))
    return content.getvalue()
