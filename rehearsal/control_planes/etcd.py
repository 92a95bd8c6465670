"""etcd when it has no room left: it refuses all that is written until somebody makes some."""

import asyncio

from kube.client import ApiError, Client, Json
from kube.kubeconfig import choose, connect, read
from provider_kit.waiting import pauses
from rehearsal.control_planes.control_plane import Place
from rehearsal.files import log_line

# How long to wait between two looks. Where the content itself is too much, no look helps.
PAUSES = 2.0, 300.0


async def keep_room(place: Place) -> None:
    """Makes room whenever there is none, until it is cancelled."""
    api = Client(await connect(choose(read(place.config("etcd")))), pauses=())
    waits = pauses(*PAUSES)
    try:
        while True:
            try:
                if alarms := await _alarms(api):
                    log_line(f"etcd of {place.folder} is full: its history is removed.")
                    await _make_room(api, alarms)
                else:
                    waits = pauses(*PAUSES)
            except (ApiError, LookupError, ValueError):
                # It is being started, or is too busy: at the next look.
                pass
            await asyncio.sleep(next(waits))
    finally:
        await api.close()


async def _alarms(api: Client) -> list[Json]:
    """What etcd says of its members that are full."""
    found = await api.post("/v3/maintenance/alarm", {"action": "GET"})
    return [alarm for alarm in found.get("alarms") or () if alarm["alarm"] == "NOSPACE"]


async def _make_room(api: Client, alarms: list[Json]) -> None:
    status = await api.post("/v3/maintenance/status", {})
    history = {"revision": status["header"]["revision"], "physical": True}
    try:
        await api.post("/v3/kv/compaction", history)
    except ApiError as error:
        # Of that revision there is no history already.
        if error.is_temporary:
            raise
    await api.post("/v3/maintenance/defragment", {})
    for alarm in alarms:
        await api.post("/v3/maintenance/alarm", alarm | {"action": "DEACTIVATE"})
