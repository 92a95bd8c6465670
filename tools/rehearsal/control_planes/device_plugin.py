"""NVIDIA's device plugin on a node: it offers the devices that it finds, waits, or exits.

It knows the settings that the component of this project writes; with any other file it exits. The
plugins from before 0.7, such as the article's, had no settings. The log lines are the original's.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from aks_catalogue import quantities
from aks_catalogue.device_plugin import (
    CAN_FAIL,
    FAILS,
    GPU,
    MIG_PREFIX,
    MIG_STRATEGY,
    NO_STRATEGY,
    PROGRAM,
    SHARED,
    version_of,
    words,
)
from rehearsal.control_planes import gpus
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.desired_state import DesiredPool
from rehearsal.control_planes.gpus import Hardware

Json = dict[str, Any]
# The data of ConfigMaps, by namespace and name.
ConfigMaps = Mapping[tuple[str, str], Mapping[str, str]]
# Returns the text of a file in the container; None if there is no such file.
ReadFile = Callable[[str], str | None]

SINGLE, MIXED = "single", "mixed"
CONFIG_FILE = "config-file"
# The arguments that are accepted: those with a value, and those that alone are `true`. Only the
# MIG strategy, the file and FAILS change what the plugin does here.
_FLAGS = (
    MIG_STRATEGY,
    CONFIG_FILE,
    "device-id-strategy",
    "device-list-strategy",
    "nvidia-driver-root",
)
_SWITCHES = (FAILS, "pass-device-specs")
_STARTING = ("Starting NVIDIA Device Plugin", "Starting Plugins.", "Loading configuration.")
# Without a driver or a GPU: it cannot tell these apart.
_NOTHING_THERE = (
    "Incompatible strategy detected auto",
    "If this is a GPU node, did you configure the NVIDIA Container Toolkit?",
    "If this is not a GPU node, you should set up a toleration or nodeSelector to only deploy this "
    "plugin on GPU nodes",
)
_NOTHING_THERE_BEFORE = (
    "Loading NVML",
    "Failed to initialize NVML: could not load NVML library.",
    "If this is a GPU node, did you set the docker default runtime to `nvidia`?",
)
_NO_DRIVER = "error starting plugins: invalid device discovery strategy"
_NOT_PERMITTED = "error starting plugins: error building MIG device map: Insufficient Permissions"


@dataclass(frozen=True)
class Outcome:
    """One run of a plugin: its log, its devices by resource name, and its exit code."""

    lines: tuple[str, ...]
    offers: Mapping[str, int] = field(default_factory=dict)
    # The resources of which it gives a container one at most.
    one_at_most: frozenset[str] = frozenset()
    # None: the plugin keeps running.
    exit_code: int | None = None


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
            there = gpus.hardware(pool)
            self._outcomes[key] = outcome(container, there, lambda path: _file(pod, path, maps))
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


def _file(pod: Json, path: str, maps: ConfigMaps) -> str | None:
    """Returns the text of a file that a pod has from a ConfigMap."""
    folder, name = posixpath.split(path)
    for container in pod["spec"]["containers"]:
        for mount in container.get("volumeMounts") or ():
            if posixpath.normpath(mount["mountPath"]) != folder:
                continue
            [volume] = [one for one in pod["spec"]["volumes"] if one["name"] == mount["name"]]
            held = (volume.get("configMap") or {}).get("name", "")
            return maps.get((pod["metadata"]["namespace"], held), {}).get(name)
    return None


class _SettingsError(Exception):
    """The plugin does not accept its settings."""


class _Part(BaseModel):
    """A part of the configuration file."""

    model_config = ConfigDict(
        alias_generator=to_camel, strict=True, frozen=True, extra="forbid", populate_by_name=True
    )


class _Resource(_Part):
    name: str
    replicas: Annotated[int, Field(ge=2)]


class _TimeSlicing(_Part):
    resources: Annotated[list[_Resource], Field(min_length=1)]
    rename_by_default: bool = False
    # Whether a container gets one replica at most.
    fail_requests_greater_than_one: bool = False

    @property
    def replicas(self) -> dict[str, int]:
        return {resource.name: resource.replicas for resource in self.resources}


class _Sharing(_Part):
    time_slicing: _TimeSlicing | None = None


class _Config(_Part):
    version: Literal["v1"] = "v1"
    sharing: _Sharing = _Sharing()


def outcome(container: Json, hardware: Hardware, read_file: ReadFile) -> Outcome:
    """Returns the outcome of a plugin that starts on a node now."""
    if version_of(container["image"]) < CAN_FAIL:
        offers = {GPU: hardware.gpus} if hardware.gpus else {}
        return Outcome(tuple(_registered(offers)) or _NOTHING_THERE_BEFORE, offers)
    try:
        settings = _settings(container)
    except _SettingsError as reason:
        return Outcome((str(reason),), exit_code=1)
    try:
        return _started(container, settings, hardware, read_file)
    except _SettingsError as reason:
        return Outcome((*_STARTING, str(reason)), exit_code=1)


def _started(
    container: Json, settings: Mapping[str, str], hardware: Hardware, read_file: ReadFile
) -> Outcome:
    strategy = settings.get(MIG_STRATEGY) or NO_STRATEGY
    if strategy not in (NO_STRATEGY, SINGLE, MIXED):
        raise _SettingsError(f"error starting plugins: unknown MIG strategy: {strategy}")
    slicing = _slicing(settings.get(CONFIG_FILE), read_file)
    if not hardware.gpus:
        if (settings.get(FAILS) or "true").lower() != "false":
            return Outcome((*_STARTING, *_NOTHING_THERE, _NO_DRIVER), exit_code=1)
        waits = "No devices found. Waiting indefinitely."
        return Outcome((*_STARTING, *_NOTHING_THERE, waits))
    if hardware.slices and strategy != NO_STRATEGY and not _may_look_at_slices(container):
        raise _SettingsError(_NOT_PERMITTED)
    name, count = GPU, hardware.gpus
    # Without a MIG strategy, divided GPUs count as whole ones.
    if hardware.slices and strategy != NO_STRATEGY:
        name = GPU if strategy == SINGLE else f"{MIG_PREFIX}{hardware.slices.profile}"
        count *= hardware.slices.per_gpu
    one_at_most = frozenset[str]()
    if slicing and (replicas := slicing.replicas.get(name)):
        name, count = f"{name}{SHARED}" if slicing.rename_by_default else name, count * replicas
        one_at_most = frozenset([name] if slicing.fail_requests_greater_than_one else ())
    return Outcome((*_STARTING, *_registered({name: count})), {name: count}, one_at_most)


def _settings(container: Json) -> dict[str, str]:
    """Returns the settings from the environment, and from arguments, which come before it."""
    variables = environment(container)
    named = {flag: flag.upper().replace("-", "_") for flag in (*_FLAGS, *_SWITCHES)}
    given = {flag: variables[name] for flag, name in named.items() if name in variables}
    command = container.get("command") or ()
    line = [*command, *(container.get("args") or ())]
    names_itself = bool(line) and posixpath.basename(line[0]) == PROGRAM
    if command and not names_itself:
        return given | _in_a_shell(container)
    return given | _parsed(line[1:] if names_itself else line)


def _parsed(arguments: Iterable[str]) -> dict[str, str]:
    """Returns the settings of the plugin's own arguments: `--name=value`, or `--name value`."""
    given = dict[str, str]()
    left = iter(arguments)
    for argument in left:
        flag, has_value, value = argument.lstrip("-").partition("=")
        if not argument.startswith("-"):
            raise _SettingsError(f"the rehearsal does not know the argument {argument}")
        if flag not in (*_FLAGS, *_SWITCHES):
            known = ", ".join((*_FLAGS, *_SWITCHES))
            wrong = f"flag provided but not defined: -{flag}"
            raise _SettingsError(f"{wrong} (the rehearsal knows {known})")
        if not has_value:
            value = "true" if flag in _SWITCHES else next(left, "")
            if not value:
                raise _SettingsError(f"flag needs an argument: -{flag}")
        given[flag] = value
    return given


def _in_a_shell(container: Json) -> dict[str, str]:
    """Returns the settings `--name=value` among the words of a command that starts the plugin."""
    pairs = (word.lstrip("-").partition("=") for word in words(container))
    return {flag: value for flag, is_set, value in pairs if is_set}


def environment(container: Json) -> dict[str, str]:
    """Returns the environment variables whose values the pod itself has."""
    return {one["name"]: one.get("value", "") for one in container.get("env") or ()}


def _slicing(path: str | None, read_file: ReadFile) -> _TimeSlicing | None:
    if not path:
        return None
    failed = "error starting plugins: unable to load config: "
    text = read_file(path)
    if text is None:
        raise _SettingsError(f"{failed}open {path}: no such file or directory")
    try:
        return _Config.model_validate(yaml.safe_load(text) or {}).sharing.time_slicing
    except yaml.YAMLError as error:
        raise _SettingsError(f"{failed}{error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _SettingsError(f"{failed}{where}: {first['msg']}") from error


def _may_look_at_slices(container: Json) -> bool:
    """Whether a container may see MIG slices: set up like NVIDIA's chart, or privileged."""
    context = container.get("securityContext") or {}
    is_admin = "SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ())
    asks = environment(container).get("NVIDIA_MIG_MONITOR_DEVICES") == "all"
    return bool(context.get("privileged")) or (is_admin and asks)


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


def _registered(offers: Mapping[str, int]) -> Iterable[str]:
    return [f"Registered device plugin for '{name}' with Kubelet" for name in offers]
