"""NVIDIA's device plugin on a node: it offers the devices that it finds, waits, or exits.

Modelled on the sources of v0.18, and on those from before 0.7, which had no settings. Its log lines
are the original's, without time stamps.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aks_catalogue import quantities
from aks_catalogue.device_plugin import (
    CAN_FAIL,
    GPU,
    MIG_PREFIX,
    NO_STRATEGY,
    PREFIX,
    SHARED,
    version_of,
)
from rehearsal.control_planes import config_maps, gpus, plugin_settings
from rehearsal.control_planes.config_maps import ConfigMaps
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.desired_state import DesiredPool
from rehearsal.control_planes.gpus import Hardware
from rehearsal.control_planes.plugin_settings import (
    SINGLE,
    ReadFile,
    Settings,
    SettingsError,
    Sharing,
)

Json = dict[str, Any]

_SOCKETS = "/var/lib/kubelet/device-plugins"
_STARTING = (
    "Starting NVIDIA Device Plugin",
    f"Starting FS watcher for {_SOCKETS}",
    "Starting OS watcher.",
    "Starting Plugins.",
    "Loading configuration.",
)
_SITE = "https://github.com/NVIDIA/k8s-device-plugin"
_ADVICE = (
    f"You can check the prerequisites at: {_SITE}#prerequisites",
    f"You can learn how to set the runtime at: {_SITE}#quick-start",
)
# Without a driver or a GPU: it cannot tell these apart.
_NOTHING_THERE = (
    "Incompatible strategy detected auto",
    "If this is a GPU node, did you configure the NVIDIA Container Toolkit?",
    *_ADVICE,
    "If this is not a GPU node, you should set up a toleration or nodeSelector to only deploy this "
    "plugin on GPU nodes",
)
_NOTHING_THERE_BEFORE = (
    "Loading NVML",
    "Failed to initialize NVML: could not load NVML library.",
    "If this is a GPU node, did you set the docker default runtime to `nvidia`?",
    *_ADVICE,
)
_GETS = "error starting plugins: error getting plugins: unable to create plugins: "
_NO_MANAGER = f"{_GETS}failed to construct resource managers: "
_NO_DRIVER = f"{_NO_MANAGER}invalid device discovery strategy"
_NOT_PERMITTED = (
    f"{_NO_MANAGER}error building device map: error building MIG device map: error visiting "
    "device: Insufficient Permissions"
)
# It asks for ever: no node of the rehearsal has the MPS control daemon.
_WAITS_FOR_MPS = (
    "Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon health: "
    "failed to send command to MPS daemon: exit status 1",
    "Failed to start one or more plugins. Retrying in 30s...",
)


@dataclass(frozen=True)
class Outcome:
    """One run of a plugin: its log, its devices by resource name, and its exit code."""

    lines: tuple[str, ...]
    offers: Mapping[str, int] = field(default_factory=dict)
    # The resources of which it gives a container one at most.
    one_at_most: frozenset[str] = frozenset()
    # None: the plugin keeps running.
    exit_code: int | None = None


class _FailedError(Exception):
    """The plugin exits; the message is its last line, after `lines`."""

    def __init__(self, message: str, lines: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.lines = lines


class Plugins:
    """The outcome of each run of a plugin, which reads its node and settings only at its start."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str, int], Outcome] = {}

    def run(
        self, pod: Json, container: Json, number: int, pool: DesiredPool, maps: ConfigMaps
    ) -> Run:
        """Returns a run by its number; its outcome is computed when it is first needed."""
        key = (pod["metadata"]["uid"], container["name"], number)
        if key not in self._outcomes:
            spec, namespace = pod["spec"], pod["metadata"]["namespace"]
            self._outcomes[key] = outcome(
                container,
                config_maps.environment(container, namespace, maps),
                gpus.hardware(pool),
                lambda path: config_maps.file_text(spec, container, path, namespace, maps),
            )
        result = self._outcomes[key]
        return Run([Line(0.0, line) for line in result.lines], result.exit_code)

    def running(self, pod: Json) -> list[Outcome]:
        """Returns the outcomes of the plugins that run in a pod."""
        if pod["metadata"].get("deletionTimestamp"):
            return []
        uid = pod["metadata"]["uid"]
        outcomes = (
            self._outcomes.get((uid, status["name"], status["restartCount"]))
            for status in pod["status"].get("containerStatuses", ())
            if "running" in status["state"]
        )
        return [outcome for outcome in outcomes if outcome]

    def forget(self, pods: Iterable[Json]) -> None:
        """Forgets all pods except these."""
        known = {pod["metadata"]["uid"] for pod in pods}
        self._outcomes = {key: held for key, held in self._outcomes.items() if key[0] in known}


def outcome(
    container: Json, environment: Mapping[str, str], hardware: Hardware, read_file: ReadFile
) -> Outcome:
    """Returns the outcome of a plugin that starts on a node now."""
    if version_of(container["image"]) < CAN_FAIL:
        offers = {GPU: hardware.gpus} if hardware.gpus else {}
        return Outcome(tuple(_registered(offers)) or _NOTHING_THERE_BEFORE, offers)
    try:
        settings = plugin_settings.settings(container, environment, read_file)
        may_look = _may_look_at_slices(container, environment)
        return _started(settings, hardware, may_look=may_look)
    except (_FailedError, SettingsError) as reason:
        lines = reason.lines if isinstance(reason, _FailedError) else ()
        return Outcome((*_STARTING, *lines, str(reason)), exit_code=1)


def _started(settings: Settings, hardware: Hardware, *, may_look: bool) -> Outcome:
    if not hardware.gpus:
        if settings.fails_on_init_error:
            raise _FailedError(_NO_DRIVER, _NOTHING_THERE)
        waits = "No devices found. Waiting indefinitely."
        return Outcome((*_STARTING, *_NOTHING_THERE, waits))
    if hardware.slices and settings.mig_strategy != NO_STRATEGY and not may_look:
        raise _FailedError(_NOT_PERMITTED)
    if settings.uses_mps:
        return Outcome((*_STARTING, *_WAITS_FOR_MPS))
    offers = _shared(_devices(settings.mig_strategy, hardware), settings.time_slicing)
    one_at_most = _one_at_most(settings.time_slicing, offers)
    return Outcome((*_STARTING, *_registered(offers)), offers, one_at_most)


def _devices(strategy: str, hardware: Hardware) -> dict[str, int]:
    """Returns the devices of a node; without a MIG strategy, divided GPUs count as whole ones."""
    slices = hardware.slices
    if slices is None or strategy == NO_STRATEGY:
        return {GPU: hardware.gpus}
    name = GPU if strategy == SINGLE else f"{MIG_PREFIX}{slices.profile}"
    return {name: hardware.gpus * slices.per_gpu}


def _shared(devices: Mapping[str, int], sharing: Sharing | None) -> dict[str, int]:
    if sharing is None:
        return dict(devices)
    offers: dict[str, int] = {}
    for name, count in devices.items():
        replicas = sharing.replicas.get(name)
        offered = name + SHARED if replicas and sharing.rename_by_default else name
        offers[offered] = count * (replicas or 1)
    return offers


def _one_at_most(sharing: Sharing | None, offers: Mapping[str, int]) -> frozenset[str]:
    if sharing is None or not sharing.fail_requests_greater_than_one:
        return frozenset()
    shared = {name + SHARED if sharing.rename_by_default else name for name in sharing.replicas}
    return frozenset(shared & offers.keys())


def refused_request(pod: Json, one_at_most: frozenset[str]) -> str | None:
    """Returns a kubelet's words for a container that asks for several shares of a GPU."""
    for container in pod["spec"]["containers"]:
        limits = (container.get("resources") or {}).get("limits") or {}
        for name in one_at_most & limits.keys():
            if (count := quantities.parse(str(limits[name])).amount) > 1:
                return (
                    "Allocate failed due to rpc error: code = Unknown desc = invalid allocation "
                    f'request for "{name}": invalid request: maximum request size for shared '
                    f"resources is 1; found {count}, which is unexpected"
                )
    return None


def _may_look_at_slices(container: Json, environment: Mapping[str, str]) -> bool:
    """Whether a container may see MIG slices: set up like NVIDIA's chart, or privileged."""
    context = container.get("securityContext") or {}
    capabilities = context.get("capabilities") or {}
    added = {name.upper() for name in capabilities.get("add") or ()}
    dropped = {name.upper() for name in capabilities.get("drop") or ()}
    has_all = "ALL" in added - dropped
    is_admin = ("SYS_ADMIN" in added or has_all) and "SYS_ADMIN" not in dropped
    asks = environment.get("NVIDIA_MIG_MONITOR_DEVICES") == "all"
    return bool(context.get("privileged")) or (is_admin and asks)


def _registered(offers: Mapping[str, int]) -> Iterable[str]:
    for name in offers:
        socket = f"{_SOCKETS}/nvidia-{name.removeprefix(PREFIX)}.sock"
        yield f"Starting GRPC server for '{name}'"
        yield f"Starting to serve '{name}' on {socket}"
        yield f"Registered device plugin for '{name}' with Kubelet"
