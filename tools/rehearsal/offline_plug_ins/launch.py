"""Starts an offline plug-in: as a fork of the process that has it loaded, or by loading it here.

Loading a plug-in takes a second of processor time, and one command starts each up to twice. So a
rehearsal's server keeps them loaded (`loaded.py`).
"""

import json
import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType

from provider_kit.loading import unsearched

# The path of the socket of `loaded.py`, in the rehearsal's home.
SOCKET_VARIABLE = "AKS_GPU_PLUG_INS"
# The path of `helm`, for stacks with Helm releases.
HELM_VARIABLE = "AKS_GPU_HELM"
# A fork sends this first. If the connection ends without it, there is no fork.
STARTED = b"+"
FAILED = 1
# Longer than an offline plug-in takes to load on a busy machine.
PATIENCE = 60.0


def launch(name: str) -> None:
    """Runs the offline plug-in of that name until the engine ends it."""
    socket_path = os.environ.get(SOCKET_VARIABLE)
    code = _fork(name, Path(socket_path)) if socket_path else None
    if code is None:
        with unsearched():
            module = import_module(f"rehearsal.offline_plug_ins.{name}.plug_in")
        code = module.main()
    sys.exit(code)


def _fork(name: str, path: Path) -> int | None:
    """Returns the exit code of a fork with our files and environment, which gets our signals.

    Returns None if there was no fork.
    """
    request = {
        "name": name,
        "offline_plug_ins": str(Path(__file__).parent),
        "arguments": sys.argv,
        "folder": str(Path.cwd()),
        "variables": dict(os.environ),
    }
    content = json.dumps(request).encode()
    with ExitStack() as stack:
        fork = stack.enter_context(socket.socket(socket.AF_UNIX))
        fork.settimeout(PATIENCE)
        try:
            fork.connect(short_address(path, stack))
            socket.send_fds(fork, [len(content).to_bytes(4)], [0, 1, 2])
            fork.sendall(content)
            if fork.recv(1) != STARTED:
                return None
        except OSError:
            return None

        fork.settimeout(None)

        def pass_on(number: int, _: FrameType | None) -> None:
            with suppress(OSError):
                fork.send(bytes([number]))

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, pass_on)
        return int.from_bytes(fork.recv(1) or bytes([FAILED]))


def short_address(path: Path, stack: ExitStack) -> str:
    """Returns an address for a socket whose path may exceed the 107 bytes that Linux allows."""
    folder = os.open(path.parent, os.O_PATH)
    stack.callback(os.close, folder)
    return f"/proc/self/fd/{folder}/{path.name}"
