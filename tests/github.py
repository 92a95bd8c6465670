"""github.com with this checkout in it, for an engine: a proxy that answers in the host's name.

The engine takes plug-ins from git repositories by https alone. This proxy answers for github.com,
with a certificate of its own, and connects clients with every other host.
"""

import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, cast

from aks_catalogue import address
from rehearsal.certificates import Authority, subject, write_certificate, write_key
from tests.aksgpu.review.pull_request import git
from tests.readme_commands import clone

HOST, _, REPOSITORY = address.REPOSITORY.partition("/")


def tagged(folder: Path, tag: str) -> Path:
    """A repository with this checkout's files as they are, in one commit with a tag."""
    git(clone(folder), "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", tag)
    git(folder, "tag", tag)
    return folder


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    repository: Path
    tls: ssl.SSLContext


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *arguments: object) -> None:
        """Tests print what they need."""

    def do_CONNECT(self) -> None:
        host, _, port = self.path.rpartition(":")
        if host != HOST:
            self._connect(host, int(port))
            return
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = cast("IO[bytes]", self.connection.makefile("rb"))  # type: ignore[assignment]
        self.wfile = cast("IO[bytes]", self.connection.makefile("wb", 0))  # type: ignore[assignment]
        self.close_connection = False

    def _connect(self, host: str, port: int) -> None:
        self.close_connection = True
        try:
            other = socket.create_connection((host, port))
        except OSError as error:
            self.send_error(502, str(error))
            return
        with other:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_copy, args=(other, self.connection), daemon=True)
            back.start()
            _copy(self.connection, other)
            back.join()

    def do_GET(self) -> None:
        if self.path != f"/{REPOSITORY}.git/info/refs?service=git-upload-pack":
            self.send_error(404)
            return
        self._answer("advertisement", b"001e# service=git-upload-pack\n0000", "--advertise-refs")

    def do_POST(self) -> None:
        self._answer("result", b"", wants=self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, kind: str, head: bytes, *arguments: str, wants: bytes = b"") -> None:
        """Answers as git does to this request."""
        packed = subprocess.run(
            ["git", "upload-pack", "--stateless-rpc", *arguments, self.server.repository],  # noqa: S607
            input=wants,
            env=os.environ | {"GIT_PROTOCOL": self.headers.get("Git-Protocol", "")},
            capture_output=True,
            check=True,
        )
        body = head + packed.stdout
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(1 << 16):
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def github(folder: Path, tag: str, trusted: Path) -> Iterator[Mapping[str, str]]:
    """Serves this checkout under a tag; gives the variables with which the engine asks here.

    `trusted` has the certificates that the engine trusts besides.
    """
    server = _Server(("127.0.0.1", 0), _Proxy)
    server.repository = tagged(folder / "repository", tag)
    authority = Authority.create("a stand-in for github.com")
    certificate, key = authority.issue(subject(HOST), hosts=[HOST])
    files = {name: folder / f"{name}.pem" for name in ("authority", "certificate", "key")}
    write_certificate(files["authority"], authority.certificate)
    write_certificate(files["certificate"], certificate)
    write_key(files["key"], key)
    server.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.tls.load_cert_chain(files["certificate"], files["key"])
    bundle = folder / "bundle.pem"
    bundle.write_text(trusted.read_text() + files["authority"].read_text())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {
            "HTTPS_PROXY": f"http://127.0.0.1:{server.server_port}",
            "NO_PROXY": "localhost,127.0.0.1",
            "SSL_CERT_FILE": str(bundle),
        }
    finally:
        server.shutdown()
        server.server_close()
