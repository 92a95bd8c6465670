"""Keeps the offline plug-ins loaded, and forks one for each plug-in that the engine starts.

    python -m rehearsal.offline_plug_ins.loaded FD

serves the requests of `launch.py` at a listening socket. It ends when the code on the disk has
changed since it was loaded, and after some time without requests; a plug-in then loads itself.
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
import time
import traceback
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from provider_kit.loading import unsearched
from rehearsal.code import ROOMS
from rehearsal.offline_plug_ins.launch import FAILED, PATIENCE, STARTED

IDLE_SECONDS = 600
_FOLDER = Path(__file__).parent
# Installing packages changes this folder.
_PACKAGES = Path(sysconfig.get_path("purelib"))
# Libraries read these, and the files that they name, while they are loaded and never again.
_READ_ON_LOADING = ("SSL_CERT_FILE", "SSL_CERT_DIR")
# The time of a file that may have changed while it was read: equal to none.
_UNKNOWN = -1
# The times of files are this coarse at worst, in nanoseconds.
_TICK = 20_000_000


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    # The system clears away a fork that has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    loaded: dict[Path, int] = {}
    while select.select([listener], [], [], IDLE_SECONDS)[0]:
        # Whoever breaks off has no fork: the connection ends.
        with contextlib.suppress(OSError, ValueError), ExitStack() as stack:
            connection = stack.enter_context(listener.accept()[0])
            connection.settimeout(PATIENCE)
            request, files = _received(connection, stack)
            if any(_version(file) != version for file, version in loaded.items()):
                return
            if _would_load_the_same(request):
                module = _load(request["name"], loaded)
                if not os.fork():
                    listener.close()
                    _run(module, request, files, connection)


def _received(connection: socket.socket, stack: ExitStack) -> tuple[Any, list[int]]:
    length, files, _, _ = socket.recv_fds(connection, 4, 3)
    for file in files:
        stack.callback(os.close, file)
    content = connection.recv(int.from_bytes(length), socket.MSG_WAITALL)
    return json.loads(content), files


def _load(name: str, loaded: dict[Path, int]) -> ModuleType:
    """Loads an offline plug-in; notes the versions of the files that it comes from."""
    before = time.time_ns() - _TICK
    with unsearched():
        module = import_module(f"rehearsal.offline_plug_ins.{name}.plug_in")
    for file in _sources() - loaded.keys():
        version = _version(file)
        loaded[file] = version if version < before else _UNKNOWN
    return module


def _sources() -> set[Path]:
    files = [getattr(module, "__file__", None) for module in sys.modules.values()]
    own = {Path(file) for file in files if file and any(map(Path(file).is_relative_to, ROOMS))}
    read = {Path(os.environ[name]) for name in _READ_ON_LOADING if name in os.environ}
    return {file for file in own if _PACKAGES not in file.parents} | read | {_PACKAGES}


def _version(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def _would_load_the_same(request: Any) -> bool:
    there, here = request["variables"], os.environ
    alike = all(there.get(name) == here.get(name) for name in _READ_ON_LOADING)
    return alike and request["offline_plug_ins"] == str(_FOLDER)


def _run(module: ModuleType, request: Any, files: list[int], connection: socket.socket) -> None:
    """Runs the plug-in that was asked for, in this process, to its end."""
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
        connection.settimeout(None)
        connection.send(STARTED)
        threading.Thread(target=_obey, args=(connection,), daemon=True).start()
        module.main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            connection.send(bytes([code]))
        os._exit(code)


def _obey(connection: socket.socket) -> None:
    """Takes the signals of the process that was started in our name, and ends with it."""
    try:
        while number := connection.recv(1):
            os.kill(os.getpid(), number[0])
    finally:
        os._exit(FAILED)


if __name__ == "__main__":
    main()
