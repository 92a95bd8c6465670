"""Compacts etcd when it is full: until then it refuses all writes."""

import asyncio

from kube.client import ApiError, Client, Json
from kube.kubeconfig import choose, connect, read
from provider_kit.waiting import pauses
from rehearsal.control_planes.control_plane import Place
from rehearsal.files import log_line

# How often etcd's alarms are checked. If the content itself is too large, compaction cannot help.
PAUSES = 2.0, 300.0


async def keep_room(place: Place) -> None:
    """Compacts etcd whenever it is full, until the task is cancelled."""
    api = Client(await connect(choose(read(place.config("etcd")))), pauses=())
    waits = pauses(*PAUSES)
    try:
        while True:
            try:
                if alarms := await _alarms(api):
                    log_line(f"etcd of {place.folder} is full; removing its history.")
                    await _make_room(api, alarms)
                else:
                    waits = pauses(*PAUSES)
            except (ApiError, LookupError, ValueError):
                # It is starting or too busy; the next check tries again.
                pass
            await asyncio.sleep(next(waits))
    finally:
        await api.close()


async def _alarms(api: Client) -> list[Json]:
    """Returns etcd's alarms of members without space."""
    response = await api.post("/v3/maintenance/alarm", {"action": "GET"})
    return [alarm for alarm in response.get("alarms") or () if alarm["alarm"] == "NOSPACE"]


async def _make_room(api: Client, alarms: list[Json]) -> None:
    status = await api.post("/v3/maintenance/status", {})
    history = {"revision": status["header"]["revision"], "physical": True}
    try:
        await api.post("/v3/kv/compaction", history)
    except ApiError as error:
        # That revision is compacted already.
        if error.is_temporary:
            raise
    await api.post("/v3/maintenance/defragment", {})
    for alarm in alarms:
        await api.post("/v3/maintenance/alarm", alarm | {"action": "DEACTIVATE"})
