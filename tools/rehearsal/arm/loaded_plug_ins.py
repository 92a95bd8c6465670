"""Runs the process that keeps the offline plug-ins loaded, from the first request for one."""

import asyncio
import os
import select
import socket
import subprocess
import sys
from contextlib import ExitStack

from rehearsal.arm.home import Home
from rehearsal.control_planes.processes import Processes, records
from rehearsal.files import log_line
from rehearsal.offline_plug_ins.launch import short_address

_LOADED = (sys.executable, "-P", "-u", "-m", "rehearsal.offline_plug_ins.loaded")


async def keep(home: Home) -> None:
    """Starts the process at each request while it does not run."""
    processes = Processes(records(home.kubernetes))
    with _listening(home) as listener:
        while True:
            await _requested(listener)
            try:
                await _run(processes, listener, home)
            except (OSError, subprocess.SubprocessError) as error:
                log_line(f"Plug-ins cannot be kept loaded; each starts by itself: {error}")
            # Whoever still waits starts by itself.
            while select.select([listener], [], [], 0)[0]:
                listener.accept()[0].close()


async def _run(processes: Processes, listener: socket.socket, home: Home) -> None:
    process = await processes.start(
        [*_LOADED, str(listener.fileno())],
        home.plug_ins_log,
        # As plug-ins of this rehearsal have it: it is read while libraries are loaded.
        {**os.environ, "SSL_CERT_FILE": str(home.ca_bundle)},
        files=[listener.fileno()],
    )
    try:
        await process.wait()
    finally:
        await processes.end(process)


def _listening(home: Home) -> socket.socket:
    home.plug_ins.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    with ExitStack() as stack:
        listener.bind(short_address(home.plug_ins, stack))
    listener.listen()
    return listener


async def _requested(listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    requested = asyncio.Event()
    loop.add_reader(listener, requested.set)
    try:
        await requested.wait()
    finally:
        loop.remove_reader(listener)
