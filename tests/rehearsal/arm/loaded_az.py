"""`az` without the second that it takes to load: one process has it loaded, and forks for each.

    python loaded_az.py keep LISTENER MODULES   with the CLI's Python; ends with its standard input
    python loaded_az.py ask SOCKET ARGUMENT...  stands for `az ARGUMENT...`

A fork has the arguments, environment, folder and files of the process that asked, which ends with
its exit code. Some settings are read while the CLI is loaded: a command with others than the first
one had becomes an `az` of its own.
"""

import json
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any


@contextmanager
def loaded_az(azure_cli: Path, folder: Path) -> Iterator[Path]:
    """Keeps the CLI loaded for as long as it is used: makes an `az` in this folder."""
    python, path = str(azure_cli / "python"), str(folder / "az.socket")
    ask = shlex.join([python, "-IS", __file__, "ask", path])
    (folder / "az").write_text(f'#!/bin/sh\nAZ_INSTALLER=PIP exec {ask} "$@"\n')
    (folder / "az").chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        number = listener.fileno()
        keep = [python, __file__, "keep", str(number), str(folder / "az.modules")]
        # Nobody else has the other end of its input: it ends when this process does.
        with subprocess.Popen(
            keep, stdin=subprocess.PIPE, pass_fds=[number], start_new_session=True
        ):
            yield folder


def _ask(path: str, *arguments: str) -> int:
    request = {"arguments": arguments, "variables": {**os.environ}, "folder": str(Path.cwd())}
    content = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as keeper:
        keeper.connect(path)
        socket.send_fds(keeper, [len(content).to_bytes(4)], [0, 1, 2])
        keeper.sendall(content)
        return keeper.recv(1)[0]


def _keep(listener: socket.socket, modules: Path) -> None:
    first: dict[str, str] = {}
    # The system clears away what has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while listener.fileno() in select.select([listener.fileno(), 0], [], [])[0]:
        connection, _ = listener.accept()
        length, files, _, _ = socket.recv_fds(connection, 4, 3)
        request = json.loads(connection.recv(int.from_bytes(length), socket.MSG_WAITALL))
        settings = {key: text for key, text in request["variables"].items() if "AZURE_" in key}
        if not first:
            first = settings
            os.environ.update(first)
            modules.write_text("azure.cli.core")
        for name in modules.read_text().split():
            import_module(name)
        if not os.fork():
            listener.close()
            _fork_and_watch(connection)
            _run(request, files, modules if settings == first else None)
            return
        connection.close()
        for file in files:
            os.close(file)


def _fork_and_watch(connection: socket.socket) -> None:
    """Returns in the fork. It is killed if the process that asked is."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if not command:
        connection.close()
        return

    def end_together() -> None:
        connection.recv(1)
        with suppress(ProcessLookupError):
            os.kill(command, signal.SIGKILL)

    threading.Thread(target=end_together, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    with suppress(OSError):
        connection.send(bytes([code % 256]))
    os._exit(0)


def _run(request: Any, files: list[int], modules: Path | None) -> None:
    """Is the command, to its end; notes what it has loaded for the next one."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["variables"])
    os.chdir(request["folder"])
    sys.argv[1:] = request["arguments"]
    if not modules:
        os.execv(sys.executable, [sys.executable, "-m", "azure.cli", *sys.argv[1:]])  # noqa: S606
    before = {*sys.modules}
    try:
        runpy.run_module("azure.cli", run_name="__main__", alter_sys=True)
    finally:
        loaded = sorted(name for name in {*sys.modules} - before if name.startswith("azure."))
        with modules.open("a", encoding="utf-8") as noted:
            noted.write("".join(f" {name}" for name in loaded))


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.exit(_ask(*sys.argv[2:]))
    _keep(socket.socket(fileno=int(sys.argv[2])), Path(sys.argv[3]))
