"""What NVIDIA's device plugin offers, and how it fails, by version, settings and node."""

from collections.abc import Mapping
from typing import Any

import pytest

from aks_catalogue.device_plugin import NEWEST, OF_2018, Version, version_of
from aks_catalogue.mig import Slices
from rehearsal.control_planes.device_plugin import Outcome, outcome, refused_request
from rehearsal.control_planes.gpus import Hardware

IMAGE = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin"
NEW = f"{IMAGE}:v0.18.2"
CPU, T4, FOUR = Hardware(), Hardware(gpus=1), Hardware(gpus=4)
MIG = Hardware(gpus=2, slices=Slices("1g.10gb", 7))
SYS_ADMIN = {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}
MONITOR = {"NVIDIA_MIG_MONITOR_DEVICES": "all"}
SINGLE, MIXED = {"MIG_STRATEGY": "single", **MONITOR}, {"MIG_STRATEGY": "mixed", **MONITOR}
FILE = "/config/config.yaml"
CONFIG_FILE = {"CONFIG_FILE": FILE}
ADVICE = "set up a toleration or nodeSelector to only deploy this plugin on GPU nodes"

Json = dict[str, Any]


def run(
    hardware: Hardware = T4,
    environment: Mapping[str, str] | None = None,
    config: str | None = None,
    **container: Any,
) -> Outcome:
    """One run of a plugin, today's where nothing else is asked for."""
    files = {} if config is None else {FILE: config}
    variables = {**(environment or {}), **({} if config is None else CONFIG_FILE)}
    return outcome({"name": "c", "image": NEW, **container}, variables, hardware, files.get)


def reason(outcome: Outcome) -> str:
    """The last line of a plugin that has exited."""
    assert outcome.exit_code == 1
    assert outcome.offers == {}
    return outcome.lines[-1]


def gpus(count: int) -> dict[str, int]:
    return {"nvidia.com/gpu": count}


# -- its version


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        (":v0.18.2", (0, 18)),
        (":0.14.5-ubi8", (0, 14)),
        (":v0.9.0-ubuntu20.04", (0, 9)),
        (":v0.7.0-rc.1", (0, 7)),
        (":v0.6.0@sha256:0123", (0, 6)),
        (":1.0.0-beta", OF_2018),
        (":1.0.0-beta6", OF_2018),
        (":1.9", OF_2018),
        (":1.11", OF_2018),
        (":1.12-centos7", OF_2018),
        (":1.11@sha256:0123", OF_2018),
        (":v1.0.0", (1, 0)),
        (":v2.11.3", (2, 11)),
        (":latest", NEWEST),
        (":8b416016-ubi8", NEWEST),
        ("@sha256:0123", NEWEST),
        (f":v{'9' * 5000}.1.0", NEWEST),
        ("", NEWEST),
    ],
)
@pytest.mark.parametrize("registry", ["nvcr.io/nvidia", "registry:5000/1.11/mirror", "nvidia"])
def test_the_version_is_that_of_the_tag_whatever_the_registry(
    registry: str, tag: str, version: Version
) -> None:
    assert version_of(f"{registry}/k8s-device-plugin{tag}") == version


# -- a node without GPU or driver


def test_a_plugin_without_a_driver_exits_with_its_reason() -> None:
    """The rehearsal let it run on CPU nodes, where on AKS it crashed until pulumi gave up."""
    outcome = run(CPU)
    assert reason(outcome).endswith("invalid device discovery strategy")
    assert any(ADVICE in line for line in outcome.lines)


@pytest.mark.parametrize("tag", ["v0.6.0", "v0.1.0", "1.0.0-beta", "1.0.0-beta6", "1.9", "1.12"])
def test_plugins_before_0_7_block_without_a_driver(tag: str) -> None:
    outcome = run(CPU, image=f"{IMAGE}:{tag}", args=["--fail-on-init-error=true"])
    assert (outcome.exit_code, outcome.offers) == (None, {})
    assert "Failed to initialize NVML" in "\n".join(outcome.lines)
    assert run(FOUR, image=f"{IMAGE}:{tag}").offers == gpus(4)
    # They know nothing of MIG.
    assert run(MIG, SINGLE, image=f"{IMAGE}:{tag}").offers == gpus(2)


@pytest.mark.parametrize("value", ["false", "0", "f", "F", "FALSE", "False", ""])
def test_a_plugin_with_fail_on_init_error_false_waits(value: str) -> None:
    outcome = run(CPU, {"FAIL_ON_INIT_ERROR": value})
    assert (outcome.exit_code, outcome.offers) == (None, {})
    assert outcome.lines[-1] == "No devices found. Waiting indefinitely."


@pytest.mark.parametrize(
    ("words", "environment", "config", "fails"),
    [
        (["--fail-on-init-error=false"], {}, None, False),
        (["-fail-on-init-error=false"], {}, None, False),
        (["--fail-on-init-error"], {"FAIL_ON_INIT_ERROR": "false"}, None, True),
        (["--fail-on-init-error=0"], {"FAIL_ON_INIT_ERROR": "true"}, None, False),
        # As in every Go program: the word is no value, and ends the arguments.
        (["--fail-on-init-error", "false"], {}, None, True),
        (["x", "--fail-on-init-error=false"], {}, None, True),
        ([], {}, "flags: {failOnInitError: false}", False),
        ([], {"FAIL_ON_INIT_ERROR": "true"}, "flags: {failOnInitError: false}", True),
        (["--fail-on-init-error=true"], {}, "flags: {failOnInitError: false}", True),
        (["--fail-on-init-error=false"], {}, "flags: {failOnInitError: true}", False),
    ],
)
def test_arguments_override_the_environment_which_overrides_the_file(
    words: list[str], environment: dict[str, str], config: str | None, fails: bool
) -> None:
    assert (run(CPU, environment, config, args=words).exit_code == 1) is fails
    as_command: Json = {"command": ["nvidia-device-plugin", *words]}
    assert (run(CPU, environment, config, **as_command).exit_code == 1) is fails


@pytest.mark.parametrize(
    ("words", "environment", "last"),
    [
        (["--mig_strategy=single"], {}, "flag provided but not defined: -mig_strategy"),
        (["--mig-strategy"], {}, "flag needs an argument: -mig-strategy"),
        (["--fail-on-init-error=no"], {}, 'invalid boolean value "no" for -fail-on-init-error'),
        ([], {"FAIL_ON_INIT_ERROR": "no"}, 'invalid boolean value "no" for -fail-on-init-error'),
    ],
)
def test_invalid_settings_end_the_plugin(
    words: list[str], environment: dict[str, str], last: str
) -> None:
    assert reason(run(T4, environment, args=words)).startswith(last)


# -- MIG


def test_a_partitioned_gpu_without_a_strategy_is_offered_as_one() -> None:
    """The rehearsal offered its slices; AKS offered one GPU, at the price of seven."""
    assert run(MIG).offers == gpus(2)
    assert run(MIG, {"MIG_STRATEGY": "none"}).offers == gpus(2)


@pytest.mark.parametrize(
    "context",
    [
        SYS_ADMIN,
        {"privileged": True},
        {"capabilities": {"add": ["sys_admin"]}},
        {"capabilities": {"add": ["ALL"]}},
    ],
)
def test_a_strategy_offers_the_slices_to_a_privileged_plugin(context: Json) -> None:
    assert run(MIG, SINGLE, securityContext=context).offers == gpus(14)
    assert run(MIG, MIXED, securityContext=context).offers == {"nvidia.com/mig-1g.10gb": 14}
    argument: Json = {"args": ["--mig-strategy", "mixed"], "securityContext": context}
    assert run(MIG, SINGLE, **argument).offers == {"nvidia.com/mig-1g.10gb": 14}
    config = "{flags: {migStrategy: mixed}}"
    assert run(MIG, SINGLE, config, securityContext=context).offers == gpus(14)
    assert len(run(MIG, MONITOR, config, securityContext=context).offers) == 1


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"privileged": False},
        {"capabilities": {"drop": ["ALL"]}},
        {"capabilities": {"add": ["NET_ADMIN"]}},
        {"capabilities": {"add": ["ALL"], "drop": ["ALL"]}},
        {"capabilities": {"add": ["SYS_ADMIN"], "drop": ["SYS_ADMIN"]}},
    ],
)
def test_a_plugin_without_the_right_to_see_slices_exits(context: Json) -> None:
    single = reason(run(MIG, SINGLE, securityContext=context))
    assert single.endswith("Insufficient Permissions")
    mixed = reason(run(MIG, MIXED, securityContext=context))
    assert mixed.endswith("Insufficient Permissions")
    # Nothing of that is needed for GPUs as a whole.
    assert run(MIG, securityContext=context).offers == gpus(2)
    assert run(FOUR, SINGLE, securityContext=context).offers == gpus(4)


def test_the_capability_needs_the_variable_too() -> None:
    """NVIDIA's chart sets both for every strategy, on every system."""
    strategy = {"MIG_STRATEGY": "single"}
    admin: Json = {"securityContext": SYS_ADMIN}
    assert reason(run(MIG, strategy, **admin)).endswith("Insufficient Permissions")
    other = {"NVIDIA_MIG_MONITOR_DEVICES": "0"}
    assert reason(run(MIG, strategy | other, **admin)).endswith("Insufficient Permissions")
    assert run(MIG, strategy | MONITOR, **admin).offers == gpus(14)
    assert run(MIG, strategy, securityContext={"privileged": True}).offers == gpus(14)


@pytest.mark.parametrize("hardware", [CPU, T4, MIG])
@pytest.mark.parametrize("strategy", ["Single", "all", ""])
def test_an_unknown_strategy_ends_the_plugin_on_every_node(
    hardware: Hardware, strategy: str
) -> None:
    last = reason(run(hardware, {"MIG_STRATEGY": strategy}))
    assert last.endswith(f"unknown MIG strategy: {strategy}")


@pytest.mark.parametrize("strategy", [SINGLE, MIXED])
def test_a_strategy_changes_nothing_on_a_whole_gpu(strategy: dict[str, str]) -> None:
    assert run(FOUR, strategy).offers == gpus(4)


# -- its configuration file


def sharing(kind: str = "timeSlicing", name: str = "nvidia.com/gpu", **more: Any) -> str:
    resource = {"name": name, "replicas": 4, **more.pop("resource", {})}
    return str({"version": "v1", "sharing": {kind: {"resources": [resource], **more}}})


def test_time_slicing_multiplies_the_offered_gpus() -> None:
    assert run(FOUR, {}, sharing()).offers == gpus(16)
    assert run(FOUR, {}, sharing(name="gpu")).offers == gpus(16)
    assert run(FOUR, {}, sharing(name="nvidia.com/other")).offers == gpus(4)
    shared = {"nvidia.com/gpu.shared": 16}
    assert run(FOUR, {}, sharing(renameByDefault="true")).exit_code == 1
    text = sharing(renameByDefault=True).replace("True", "true")
    assert run(FOUR, {}, text).offers == shared


@pytest.mark.parametrize("fails", [True, False, None])
@pytest.mark.parametrize("renames", [True, False])
def test_requests_of_several_shares_can_be_refused(fails: bool | None, renames: bool) -> None:
    more: Json = {"renameByDefault": renames, "failRequestsGreaterThanOne": fails}
    name = "nvidia.com/gpu.shared" if renames else "nvidia.com/gpu"
    outcome = run(config=sharing(**more))
    assert outcome.one_at_most == ({name} if fails else set())

    def asks_for(count: int, resource: str = name) -> str | None:
        container = {"name": "c", "resources": {"limits": {resource: count}}}
        return refused_request({"spec": {"containers": [container]}}, outcome.one_at_most)

    assert asks_for(1) is None
    assert asks_for(2, "nvidia.com/other") is None
    assert bool(asks_for(2)) == bool(fails)


def test_time_slicing_multiplies_the_offered_slices() -> None:
    admin: Json = {"securityContext": SYS_ADMIN}
    assert run(MIG, SINGLE, sharing(), **admin).offers == gpus(56)
    mixed = sharing(name="nvidia.com/mig-1g.10gb")
    assert run(MIG, MIXED, mixed, **admin).offers == {"nvidia.com/mig-1g.10gb": 56}


@pytest.mark.parametrize(
    ("config", "last"),
    [
        ("version: v2", "version: Input should be 'v1'"),
        ("just words", "Input should be"),
        ("flags: {failOnInitError: 'false'}", "flags.failOnInitError: "),
        ("flags: {migStrategy: true}", "flags.migStrategy: "),
        ("a: [", "line 1"),
        ("sharing: {timeSlicing: {resources: []}}", "sharing.timeSlicing.resources: "),
        ("sharing: {timeSlicing: {resources: [{replicas: 2}]}}", "resources.0.name: "),
        ("sharing: {timeSlicing: {resources: [{name: gpu}]}}", "resources.0.replicas: "),
        (sharing(resource={"replicas": "4"}), "resources.0.replicas: "),
        # One would change nothing, and is refused by every version that knows of sharing.
        (sharing(resource={"replicas": 1}), "greater than or equal to 2"),
    ],
)
def test_an_invalid_config_file_ends_the_plugin(config: str, last: str) -> None:
    outcome = reason(run(T4, {}, config))
    assert "unable to load config" in outcome
    assert last in outcome


@pytest.mark.parametrize("config", ["", "version: v1", "{}", "unknown: 1", "sharing: {mps: null}"])
def test_an_empty_config_file_changes_nothing(config: str) -> None:
    assert run(T4, {}, config).offers == gpus(1)


def test_a_missing_config_file_ends_the_plugin() -> None:
    last = "unable to parse config file: error opening config file: open /config/config.yaml: no "
    assert last in reason(run(T4, CONFIG_FILE))
    assert last in reason(run(T4, args=[f"--config-file={FILE}"]))
    assert run(T4, {"CONFIG_FILE": ""}).offers == gpus(1)


def test_mps_never_offers_gpus_on_a_node_of_the_rehearsal() -> None:
    """It waits for the daemon for ever."""
    waiting = run(T4, {}, sharing("mps"))
    assert (waiting.exit_code, waiting.offers) == (None, {})
    assert "error waiting for MPS daemon" in "\n".join(waiting.lines)
