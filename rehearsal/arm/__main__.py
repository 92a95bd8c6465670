"""Runs the ARM server of one rehearsal cloud until a signal ends it."""

import argparse
import asyncio
import datetime
import os
import signal
import sys
import uuid
from pathlib import Path

from filelock import FileLock, Timeout

from rehearsal.arm import server, tls
from rehearsal.arm.home import Home, OtherEraError, settle_era
from rehearsal.certificates import HOSTNAME
from rehearsal.control_planes.desired_state import Era
from rehearsal.files import read_json, write_json


def main() -> str | None:
    """Returns why no server ran; None once one has run and ended."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.arm", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the folder of this cloud's state")
    parser.add_argument("--port", type=int, help="preferred; default: the one used last")
    parser.add_argument(
        "--time-scale", type=float, default=1.0, help="0.01: a hundred times faster"
    )
    parser.add_argument("--era", type=Era, choices=list(Era), help="default: this home's, or today")
    parser.add_argument(
        "--kubernetes", type=Path, metavar="DIR", help="the binaries of Kubernetes, etcd and kwok"
    )
    arguments = parser.parse_args()
    home = Home(arguments.home.resolve())
    home.path.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home.server_lock, timeout=0):
            era = settle_era(home, arguments.era)
            options = server.Options(arguments.time_scale, era, arguments.kubernetes)
            asyncio.run(run(home, arguments.port, options))
    except OtherEraError as error:
        return str(error)
    except Timeout:
        return f"Another server is running on {home.path}."
    return None


async def run(home: Home, port: int | None, options: server.Options) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    context = tls.prepare(home)
    last = read_json(home.server) or {}
    listener = server.listen(last.get("port", 0) if port is None else port)
    port = listener.getsockname()[1]
    instance = str(uuid.uuid4())
    app = server.application(home, port, instance, options)
    runner = await server.serve(app, listener, context)
    record = {
        "pid": os.getpid(),
        "port": port,
        "url": f"https://{HOSTNAME}:{port}",
        "started": datetime.datetime.now(datetime.UTC).isoformat(),
        "instance": instance,
        "era": options.era,
        "timeScale": options.time_scale,
    }
    write_json(home.server, record)
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    sys.exit(main())
