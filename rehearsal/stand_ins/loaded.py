"""Keeps the stand-ins loaded, and forks one for each plug-in that the engine starts.

    python -m rehearsal.stand_ins.loaded FD

serves the requests of `launch.py` at a listening socket. It ends when the code on the disk has
changed since it was loaded, and after some time without requests; a stand-in then loads itself.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import sysconfig
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from provider_kit.loading import unsearched
from rehearsal.stand_ins.launch import FAILED, STARTED

IDLE_SECONDS = 600
_FOLDER = Path(__file__).parent
_ROOT = _FOLDER.parent.parent
# Installing packages changes this folder.
_PACKAGES = Path(sysconfig.get_path("purelib"))
# Variables that libraries read only while they are loaded.
_READ_ON_LOADING = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    # The kernel removes ended forks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    loaded: dict[Path, int] = {}
    while select.select([listener], [], [], IDLE_SECONDS)[0]:
        connection = listener.accept()[0]
        with connection, contextlib.suppress(OSError, ValueError):
            length, files, _, _ = socket.recv_fds(connection, 4, 3)
            request = json.loads(connection.recv(int.from_bytes(length), socket.MSG_WAITALL))
            if any(_version(file) != version for file, version in loaded.items()):
                return
            if _would_load_the_same(request):
                module = _load(request["name"])
                loaded = {file: _version(file) for file in _code()} | loaded
                if not os.fork():
                    listener.close()
                    _run(module, request, files, connection)
            for file in files:
                os.close(file)


def _load(name: str) -> ModuleType:
    with unsearched():
        return import_module(f"rehearsal.stand_ins.{name}.plug_in")


def _code() -> list[Path]:
    """Returns the files of the loaded code."""
    files = [getattr(module, "__file__", None) for module in sys.modules.values()]
    own = [Path(file) for file in files if file and Path(file).is_relative_to(_ROOT)]
    return [_PACKAGES, *(file for file in own if _PACKAGES not in file.parents)]


def _version(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def _would_load_the_same(request: Any) -> bool:
    there, here = request["variables"], os.environ
    alike = all(there.get(name) == here.get(name) for name in _READ_ON_LOADING)
    return alike and request["stand_ins"] == str(_FOLDER)


def _run(module: ModuleType, request: Any, files: list[int], connection: socket.socket) -> None:
    """Runs the requested plug-in in this fork, to its end."""
    code = FAILED
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(request["variables"])
        os.chdir(request["folder"])
        sys.argv[:] = request["arguments"]
        threading.Thread(target=_obey, args=(connection,), daemon=True).start()
        connection.send(STARTED)
        module.main()
        code = 0
    finally:
        connection.send(bytes([code]))
        os._exit(code)


def _obey(connection: socket.socket) -> None:
    """Receives the signals of the process that the engine has started, and ends with it."""
    while number := connection.recv(1):
        os.kill(os.getpid(), number[0])
    os._exit(FAILED)


if __name__ == "__main__":
    main()
