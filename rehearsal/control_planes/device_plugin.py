"""NVIDIA's device plugin on a node: it offers the devices that it finds, waits, or exits.

Modelled on its sources from 1.0.0-beta to v0.20. Its log lines are the original's, without time
stamps.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from catalogue import quantities
from catalogue.device_plugin import (
    CAN_FAIL,
    GPU,
    MIG_PREFIX,
    NO_STRATEGY,
    PREFIX,
    SHARED,
    Version,
    version_of,
)
from rehearsal.control_planes import config_maps, gpus, plugin_settings
from rehearsal.control_planes.config_maps import ConfigMaps
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.desired_state import DesiredPool
from rehearsal.control_planes.gpus import Hardware
from rehearsal.control_planes.plugin_config import VERSION, Sharing
from rehearsal.control_planes.plugin_settings import ReadFile, Settings, SettingsError

Json = dict[str, Any]

SINGLE, MIXED = "single", "mixed"
_SOCKETS = "/var/lib/kubelet/device-plugins"

_STARTING = (
    "Starting NVIDIA Device Plugin",
    f"Starting FS watcher for {_SOCKETS}",
    "Starting OS watcher.",
    "Starting Plugins.",
    "Loading configuration.",
)
_NOTHING_FOUND = "No devices found. Waiting indefinitely."
_ASKS_FOR_RUNTIME = "If this is a GPU node, did you set the docker default runtime to `nvidia`?"
_ASKS_FOR_TOOLKIT = "If this is a GPU node, did you configure the NVIDIA Container Toolkit?"
_SITE = "https://github.com/NVIDIA/k8s-device-plugin"
_ADVICE = (
    f"You can check the prerequisites at: {_SITE}#prerequisites",
    f"You can learn how to set the runtime at: {_SITE}#quick-start",
)
_ADVICE_ON_NODES = (
    "If this is not a GPU node, you should set up a toleration or nodeSelector to only deploy this "
    "plugin on GPU nodes"
)
_NO_LIBRARY = "could not load NVML library"
_STARTS = "error starting plugins: "
_GETS = f"{_STARTS}error getting plugins: "
_MANAGES = f"{_GETS}unable to create plugins: failed to construct resource managers: "


# The log of a plugin without a driver or GPU (it cannot tell these apart), and its error when it
# exits: by the first version that has them, newest first.
_NO_NVML = (f"Failed to initialize NVML: {_NO_LIBRARY}.", _ASKS_FOR_RUNTIME)
_NO_DISCOVERY = ("Incompatible strategy detected auto", _ASKS_FOR_TOOLKIT)
_NO_PLATFORM = ("Incompatible platform detected", _ASKS_FOR_TOOLKIT)
_WITHOUT_DRIVER = (
    ((0, 20), _NO_NVML, f"{_MANAGES}nvml init failed: {_NO_LIBRARY}"),
    ((0, 16), _NO_DISCOVERY, f"{_MANAGES}invalid device discovery strategy"),
    ((0, 13), _NO_PLATFORM, f"{_GETS}platform detection failed"),
    (CAN_FAIL, _NO_NVML, f"failed to initialize NVML: {_NO_LIBRARY}"),
)
# Since this version a plugin with FAIL_ON_INIT_ERROR=false logs that it waits.
_SAYS_THAT_IT_WAITS: Version = (0, 13)
# The error of a plugin without the permission to see MIG slices, by strategy.
_NOT_PERMITTED: Mapping[str, str] = MappingProxyType(
    {
        SINGLE: f"{_MANAGES}error building device map: error building device map from "
        "config.resources: error building MIG device map: error visiting devices: error visiting "
        "device: error visiting device: error visiting MIG device: error getting MIG profile for "
        "MIG device at index '(0, 0)': error getting parent memory info: Insufficient Permissions",
        MIXED: f"{_STARTS}unable to add default resources to config: error visiting devices: error "
        "visiting device: error visiting device: error getting device memory info: Insufficient "
        "Permissions",
    }
)
_STRATEGIES = (NO_STRATEGY, SINGLE, MIXED)


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
    """The plugin exits; the message is its last line."""


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
    version = version_of(container["image"])
    if version < CAN_FAIL:
        return _without_settings(hardware)
    lines: list[str] = []
    try:
        arguments = plugin_settings.arguments(container, version)
        lines += _STARTING
        settings = plugin_settings.settings(version, arguments, environment, read_file)
        lines += _warnings(settings)
        _validate(settings)
        lines.append(f"Running with config:\n{_logged_config(settings)}")
        may_look = _may_look_at_slices(container, environment)
        offers = _devices_offered(version, settings, hardware, may_look, lines)
    except (_FailedError, SettingsError) as reason:
        return Outcome((*lines, str(reason)), exit_code=1)
    return Outcome((*lines, *_registered(offers)), offers, _one_at_most(settings.sharing, offers))


def _without_settings(hardware: Hardware) -> Outcome:
    """Returns the outcome of a plugin of 2018, which had no settings."""
    if not hardware.gpus:
        return Outcome(("Loading NVML", *_NO_NVML, *_ADVICE))
    offers = {GPU: hardware.gpus}
    return Outcome(("Loading NVML", "Fetching devices.", *_registered(offers)), offers)


def _validate(settings: Settings) -> None:
    before = f"{_STARTS}unable to validate flags: "
    if settings.config.mps:
        if settings.mig_strategy == MIXED:
            raise _FailedError(f"{before}using --mig-strategy=mixed is not supported with MPS")
        if not settings.mps_root:
            raise _FailedError(f"{before}using MPS requires --mps-root to be specified")
    if settings.mig_strategy not in _STRATEGIES:
        raise _FailedError(f"{before}unknown MIG strategy: {settings.mig_strategy}")


def _devices_offered(
    version: Version, settings: Settings, hardware: Hardware, may_look: bool, lines: list[str]
) -> dict[str, int]:
    """Returns the number of devices by resource name; appends to the log lines."""
    if not hardware.gpus:
        _without_driver(version, settings, lines)
        return {}
    is_divided = hardware.slices is not None and settings.mig_strategy != NO_STRATEGY
    if is_divided and not may_look:
        raise _FailedError(_NOT_PERMITTED[settings.mig_strategy])
    devices = _devices(settings.mig_strategy, hardware)
    if settings.config.mps:
        if is_divided:
            raise _FailedError(
                f"{_GETS}unable to create plugins: failed to create plugin: sharing using MPS is "
                "not supported for MIG devices"
            )
        # It retries for ever: no node of the rehearsal has the MPS control daemon.
        lines += (
            "Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon "
            "health: failed to send command to MPS daemon: exit status 1",
            "Failed to start one or more plugins. Retrying in 30s...",
        )
        return {}
    return _shared(devices, settings.sharing)


def _without_driver(version: Version, settings: Settings, lines: list[str]) -> None:
    candidates = (
        (messages, reason) for since, messages, reason in _WITHOUT_DRIVER if version >= since
    )
    messages, reason = next(candidates)
    lines += (*messages, *_ADVICE, _ADVICE_ON_NODES)
    if settings.fails_on_init_error:
        raise _FailedError(reason)
    if version >= _SAYS_THAT_IT_WAITS:
        lines.append(_NOTHING_FOUND)


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
        offered = name + SHARED if replicas and sharing.renames else name
        offers[offered] = count * (replicas or 1)
    return offers


def _one_at_most(sharing: Sharing | None, offers: Mapping[str, int]) -> frozenset[str]:
    if sharing is None or not sharing.fails_beyond_one:
        return frozenset()
    shared = {name + SHARED if sharing.renames else name for name in sharing.replicas}
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


def _warnings(settings: Settings) -> Iterable[str]:
    if settings.config.has_resources:
        yield "Customizing the 'resources' field is not yet supported in the config. Ignoring..."
    config = settings.config
    for where, sharing in (("timeSlicing", config.time_slicing), ("mps", config.mps)):
        for name in sharing.ignored if sharing else ():
            verb = "Setting" if name == "rename" else "Customizing"
            yield (
                f"{verb} the '{name}' field in sharing.{where}.resources is not yet supported in "
                "the config. Ignoring..."
            )


def _logged_config(settings: Settings) -> str:
    """Returns the settings as the plugin logs them, as far as the rehearsal has them."""
    config: Json = {
        "version": VERSION,
        "flags": {
            "migStrategy": settings.mig_strategy,
            "failOnInitError": settings.fails_on_init_error,
            "mpsRoot": settings.mps_root,
        },
    }
    if sharing := settings.sharing:
        config["sharing"] = {
            "mps" if settings.config.mps else "timeSlicing": {
                "renameByDefault": sharing.renames,
                "resources": [
                    {"name": name, "replicas": count} for name, count in sharing.replicas.items()
                ],
            }
        }
    return json.dumps(config, indent=2)


def _registered(offers: Mapping[str, int]) -> Iterable[str]:
    for name in offers:
        socket = f"{_SOCKETS}/nvidia-{name.removeprefix(PREFIX)}.sock"
        yield f"Starting GRPC server for '{name}'"
        yield f"Starting to serve '{name}' on {socket}"
        yield f"Registered device plugin for '{name}' with Kubelet"
