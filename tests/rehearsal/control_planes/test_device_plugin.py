"""What NVIDIA's device plugin offers, and how it fails, by settings and node."""

from collections.abc import Mapping
from typing import Any

import pytest

from aks_catalogue.device_plugin import NEWEST, OF_2018, Version, version_of
from aks_catalogue.mig import Slices
from rehearsal.control_planes.device_plugin import Outcome, outcome, refused_request
from rehearsal.control_planes.gpus import Hardware

IMAGE = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin"
CPU, T4, FOUR = Hardware(), Hardware(gpus=1), Hardware(gpus=4)
MIG = Hardware(gpus=2, slices=Slices("1g.10gb", 7))
SYS_ADMIN = {"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}}
MONITOR = {"NVIDIA_MIG_MONITOR_DEVICES": "all"}
SINGLE, MIXED = {"MIG_STRATEGY": "single", **MONITOR}, {"MIG_STRATEGY": "mixed", **MONITOR}
STRATEGY = ["--mig-strategy=single"]
FILE = "/config/config.yaml"
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
    variables = {**(environment or {}), **({} if config is None else {"CONFIG_FILE": FILE})}
    env = [{"name": name, "value": value} for name, value in variables.items()]
    given = {"name": "c", "image": f"{IMAGE}:v0.18.2", "env": env, **container}
    return outcome(given, hardware, files.get)


def reason(outcome: Outcome) -> str:
    """The last line of a plugin that has exited."""
    assert outcome.exit_code == 1
    assert outcome.offers == {}
    return outcome.lines[-1]


def gpus(count: int) -> dict[str, int]:
    return {"nvidia.com/gpu": count}


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        (":v0.18.2", (0, 18)),
        (":v0.6.0@sha256:0123", (0, 6)),
        (":1.0.0-beta6", OF_2018),
        (":1.11", OF_2018),
        (":latest", NEWEST),
        ("", NEWEST),
    ],
)
@pytest.mark.parametrize("registry", ["nvcr.io/nvidia", "registry:5000/1.11/mirror"])
def test_the_version_is_that_of_the_tag_whatever_the_registry(
    registry: str, tag: str, version: Version
) -> None:
    assert version_of(f"{registry}/k8s-device-plugin{tag}") == version


def test_a_plugin_without_a_driver_exits_with_its_reason() -> None:
    """The rehearsal let it run on CPU nodes, where on AKS it crashed until pulumi gave up."""
    outcome = run(CPU)
    assert reason(outcome).endswith("invalid device discovery strategy")
    assert any(ADVICE in line for line in outcome.lines)


def test_the_articles_plugin_waits_without_a_driver() -> None:
    image = f"{IMAGE}:1.11"
    outcome = run(CPU, image=image)
    assert (outcome.exit_code, outcome.offers) == (None, {})
    assert "Failed to initialize NVML" in "\n".join(outcome.lines)
    # It knows nothing of MIG.
    assert run(MIG, SINGLE, image=image).offers == gpus(2)


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--fail-on-init-error=false"]},
        {"command": ["nvidia-device-plugin", "--fail-on-init-error=false"]},
        {"env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}]},
    ],
)
def test_a_plugin_with_fail_on_init_error_false_waits(container: Json) -> None:
    outcome = run(CPU, **container)
    assert (outcome.exit_code, outcome.offers) == (None, {})
    assert outcome.lines[-1] == "No devices found. Waiting indefinitely."


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--mig-strategy", "single"]},
        {"args": ["-mig-strategy=single", "--device-list-strategy", "envvar"]},
        {"command": ["/usr/bin/nvidia-device-plugin", "--pass-device-specs"], "args": STRATEGY},
        {"command": ["nvidia-device-plugin", "--nvidia-driver-root=/", *STRATEGY]},
        {"command": ["sh", "-c"], "args": ["exec nvidia-device-plugin --mig-strategy=single"]},
    ],
)
def test_arguments_are_read_as_the_plugin_reads_them(container: Json) -> None:
    """Without an equals sign, a strategy was ignored, and two GPUs were offered."""
    assert run(MIG, MONITOR, securityContext=SYS_ADMIN, **container).offers == gpus(14)


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (["--bogus=1"], "flag provided but not defined: -bogus (the rehearsal knows mig-strategy,"),
        (["--mig-strategy single"], "flag provided but not defined: -mig-strategy single ("),
        (["--mig-strategy"], "flag needs an argument: -mig-strategy"),
        (["--fail-on-init-error", "false"], "the rehearsal does not know the argument false"),
        (["mig-strategy=single"], "the rehearsal does not know the argument mig-strategy=single"),
    ],
)
def test_any_other_argument_ends_the_plugin(arguments: list[str], last: str) -> None:
    """They were ignored, and the plugin ran on."""
    outcome = run(args=arguments)
    assert reason(outcome).startswith(last)
    assert len(outcome.lines) == 1


def test_a_partitioned_gpu_without_a_strategy_is_offered_as_one() -> None:
    """The rehearsal offered its slices; AKS offered one GPU, at the price of seven."""
    assert run(MIG).offers == gpus(2)
    assert run(MIG, {"MIG_STRATEGY": "none"}).offers == gpus(2)


@pytest.mark.parametrize("context", [SYS_ADMIN, {"privileged": True}])
def test_a_strategy_offers_the_slices_to_a_privileged_plugin(context: Json) -> None:
    assert run(MIG, SINGLE, securityContext=context).offers == gpus(14)
    assert run(MIG, MIXED, securityContext=context).offers == {"nvidia.com/mig-1g.10gb": 14}
    assert run(FOUR, SINGLE, securityContext=context).offers == gpus(4)


@pytest.mark.parametrize("context", [{}, {"capabilities": {"drop": ["ALL"]}}])
def test_a_plugin_without_the_right_to_see_slices_exits(context: Json) -> None:
    """NVIDIA's chart sets capability and variable for every strategy, on every system."""
    assert reason(run(MIG, SINGLE, securityContext=context)).endswith("Insufficient Permissions")
    without = {"MIG_STRATEGY": "single"}
    last = reason(run(MIG, without, securityContext=SYS_ADMIN))
    assert last.endswith("Insufficient Permissions")
    # Nothing of that is needed for GPUs as a whole.
    assert run(MIG, securityContext=context).offers == gpus(2)


@pytest.mark.parametrize("hardware", [CPU, T4, MIG])
def test_an_unknown_strategy_ends_the_plugin_on_every_node(hardware: Hardware) -> None:
    assert reason(run(hardware, {"MIG_STRATEGY": "all"})).endswith("unknown MIG strategy: all")


def sharing(kind: str = "timeSlicing", name: str = "nvidia.com/gpu", **more: Any) -> str:
    resource = {"name": name, "replicas": 4}
    return str({"version": "v1", "sharing": {kind: {"resources": [resource], **more}}})


def test_time_slicing_multiplies_the_offered_gpus_and_slices() -> None:
    assert run(FOUR, {}, sharing()).offers == gpus(16)
    assert run(FOUR, {}, sharing(name="nvidia.com/other")).offers == gpus(4)
    text = sharing(renameByDefault=True)
    assert run(FOUR, {}, text).offers == {"nvidia.com/gpu.shared": 16}
    assert run(MIG, SINGLE, sharing(), securityContext=SYS_ADMIN).offers == gpus(56)


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("renames", [True, False])
def test_requests_of_several_shares_can_be_refused(fails: bool, renames: bool) -> None:
    more: Json = {"renameByDefault": renames, "failRequestsGreaterThanOne": fails}
    name = "nvidia.com/gpu.shared" if renames else "nvidia.com/gpu"
    outcome = run(config=sharing(**more))
    assert outcome.one_at_most == ({name} if fails else set())

    def asks_for(count: int, resource: str = name) -> str | None:
        container = {"name": "c", "resources": {"limits": {resource: count}}}
        return refused_request({"spec": {"containers": [container]}}, outcome.one_at_most)

    assert asks_for(1) is None
    assert asks_for(2, "nvidia.com/other") is None
    assert bool(asks_for(2)) == fails


@pytest.mark.parametrize(
    ("config", "last"),
    [
        ("version: v2", "version: Input should be 'v1'"),
        ("flags: {migStrategy: mixed}", "flags: "),
        ("a: [", "line 1"),
        (sharing("mps"), "sharing.mps: "),
        (sharing().replace("4", "1"), "greater than or equal to 2"),
    ],
)
def test_another_config_file_ends_the_plugin(config: str, last: str) -> None:
    outcome = reason(run(T4, {}, config))
    assert "unable to load config" in outcome
    assert last in outcome


def test_a_missing_config_file_ends_the_plugin() -> None:
    assert f"open {FILE}: no such file" in reason(run(T4, {"CONFIG_FILE": FILE}))
