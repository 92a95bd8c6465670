"""The device plugins among a cluster's pods: what each of them finds on its node when it starts."""

from collections.abc import Iterable, Mapping
from typing import Any

from rehearsal.control_planes import config_maps, device_plugin, gpus
from rehearsal.control_planes.config_maps import ConfigMaps
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.device_plugin import Outcome
from rehearsal.control_planes.wanted import WantedPool

Json = dict[str, Any]


class Plugins:
    """How each run of a plugin turned out: it looks at its node and its settings only once."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str, int], Outcome] = {}

    def run(
        self, pod: Json, container: Json, number: int, pool: WantedPool, maps: ConfigMaps
    ) -> Run:
        """The run of that number; what it finds is what there is when it is first asked for."""
        key = (pod["metadata"]["uid"], container["name"], number)
        if key not in self._outcomes:
            self._outcomes[key] = _outcome(pod, container, pool, maps)
        found = self._outcomes[key]
        return Run([Line(0.0, line) for line in found.lines], found.exit_code)

    def offers(self, pod: Json) -> list[Mapping[str, int]]:
        """What the plugins of a pod that run now offer, each for itself."""
        if pod["metadata"].get("deletionTimestamp"):
            return []
        uid = pod["metadata"]["uid"]
        found = (
            self._outcomes.get((uid, status["name"], status["restartCount"]))
            for status in pod["status"].get("containerStatuses", ())
            if "running" in status["state"]
        )
        return [outcome.offers for outcome in found if outcome]

    def forget(self, pods: Iterable[Json]) -> None:
        """Forgets all but these pods."""
        known = {pod["metadata"]["uid"] for pod in pods}
        self._outcomes = {key: held for key, held in self._outcomes.items() if key[0] in known}


def _outcome(pod: Json, container: Json, pool: WantedPool, maps: ConfigMaps) -> Outcome:
    spec, namespace = pod["spec"], pod["metadata"]["namespace"]
    return device_plugin.outcome(
        container,
        config_maps.environment(container, namespace, maps),
        gpus.hardware(pool),
        lambda path: config_maps.file_text(spec, container, path, namespace, maps),
    )
