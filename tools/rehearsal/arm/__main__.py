"""Runs the ARM server of one rehearsal cloud until a signal ends it."""

import argparse
import asyncio
import datetime
import os
import signal
import sqlite3
import sys
import uuid
from pathlib import Path

from rehearsal.arm import loaded_plug_ins, server, tls
from rehearsal.arm.dashboard.serving import Page, load_token
from rehearsal.arm.home import (
    DAMAGED,
    DamagedError,
    Home,
    OtherEraError,
    ServerRecord,
    settle_era,
)
from rehearsal.certificates import HOSTNAME
from rehearsal.code import fingerprint
from rehearsal.control_planes.desired_state import Era
from rehearsal.files import log_line, read_json
from rehearsal.server_lock import ServerLock

# How often the server checks its lock.
UPKEEP_SECONDS = 2.0
# Another process may hold the lock for a moment, only to check it.
LOCK_SECONDS = 1.0


def main() -> str | int | None:
    """Runs the server until it is signalled. Returns an error if it could not start."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.arm", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the folder of this cloud's state")
    parser.add_argument("--port", type=int, help="preferred port; default: the last one used")
    parser.add_argument(
        "--time-scale", type=float, default=1.0, help="0.01: a hundred times faster"
    )
    parser.add_argument("--era", type=Era, choices=list(Era), help="default: this home's, or today")
    parser.add_argument(
        "--kubernetes", type=Path, metavar="DIR", help="folder of the Kubernetes binaries"
    )
    parser.add_argument("--lock", type=int, metavar="FD", help="the inherited lock's descriptor")
    arguments = parser.parse_args()
    home = Home(arguments.home.resolve())
    home.make()
    lock = (
        ServerLock.take(home.server_lock, LOCK_SECONDS)
        if arguments.lock is None
        else ServerLock.inherited(home.server_lock, arguments.lock)
    )
    if lock is None:
        return f"Another server already runs on {home.path}."
    # The operating system releases the lock when this process ends.
    lock.write_pid(os.getpid())
    try:
        era = settle_era(home, arguments.era)
        options = server.Options(arguments.time_scale, era, arguments.kubernetes)
        asyncio.run(run(home, lock, arguments.port, options))
    except OtherEraError as error:
        return str(error)
    except DamagedError as error:
        log_line(str(error))
        return DAMAGED
    except (OSError, sqlite3.OperationalError) as error:
        return f"{home.path} cannot be used: {error}"
    return None


async def run(home: Home, lock: ServerLock, port: int | None, options: server.Options) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    context = tls.prepare(home)
    last = read_json(home.server) or {}
    listener = server.listen(port if port is not None else last.get("port"))
    page_listener = server.listen(last.get("pagePort"))
    port = listener.getsockname()[1]
    record = ServerRecord(
        pid=os.getpid(),
        port=port,
        url=f"https://{HOSTNAME}:{port}",
        started=datetime.datetime.now(datetime.UTC).isoformat(),
        instance=str(uuid.uuid4()),
        era=options.era,
        time_scale=options.time_scale,
        code=fingerprint(),
        kubernetes=None if options.kubernetes is None else str(options.kubernetes),
        page_port=page_listener.getsockname()[1],
    )
    app = server.application(home, port, record.instance, options)
    end = asyncio.create_task(ended.wait())
    plug_ins = asyncio.create_task(loaded_plug_ins.keep(home))
    # A signal also ends a server whose clusters are still starting.
    start = asyncio.create_task(server.serve(app, listener, context))
    await asyncio.wait((start, end), return_when=asyncio.FIRST_COMPLETED)
    if not start.done():
        start.cancel()
        plug_ins.cancel()
        await asyncio.wait((start, plug_ins))
        return
    runner = start.result()
    page = Page(load_token(home.page_token), record.page_port, app[server.KNOWLEDGE])
    page_runner = await server.serve(page.application(), page_listener, None)
    record.write(home)
    # Once its home is deleted, nobody can find this server any more: it ends.
    while not ended.is_set() and lock.is_in_place():
        await asyncio.wait((end,), timeout=UPKEEP_SECONDS)
    plug_ins.cancel()
    await asyncio.wait((plug_ins,))
    await page_runner.cleanup()
    await runner.cleanup()


if __name__ == "__main__":
    sys.exit(main())
