"""Device plugins that go on with a configuration that is no longer theirs."""

from dataclasses import replace
from typing import Any

import pytest

from policies.rules.device_plugin_config_restart import device_plugin_config_restart
from policies.rules.device_plugin_restart_unclear import device_plugin_restart_unclear
from tests.policies.gpu_stacks import PLUGIN, TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import Resource, findings

VOLUMES: dict[str, Any] = {"volumes": [{"name": "config", "configMap": {"name": "sharing"}}]}
MOUNTED: dict[str, Any] = {
    "env": [{"name": "CONFIG_FILE", "value": "/config/config.yaml"}],
    "volumeMounts": [{"name": "config", "mountPath": "/config"}],
}
READS: dict[str, Any] = {**VOLUMES, "container": MOUNTED}
CHECKSUM = {"annotations": {"checksum/config": "0123"}}
SHARED = "version: v1\nsharing:\n  timeSlicing: {resources: []}\n"
DIVIDED = "flags:\n  migStrategy: mixed\n"


def config_map(text: str = SHARED, /, **metadata: Any) -> Resource:
    return Resource(
        type="kubernetes:core/v1:ConfigMap",
        name="sharing",
        properties={"metadata": metadata, "data": {"config.yaml": text}},
    )


def plugin(
    metadata: dict[str, Any] | None = None, own: dict[str, Any] | None = None, **pods: Any
) -> Resource:
    made = daemon_set(TOLERATION, **pods)
    labels = {"app": "plugin"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {
            **made.properties["spec"]["template"],
            "metadata": {"labels": labels, **(metadata or {})},
        },
    }
    return replace(made, properties={"metadata": own or {}, "spec": spec})


def reading(**container: Any) -> dict[str, Any]:
    """The pods of a plugin that reads the file, with other settings of its container."""
    return {**VOLUMES, "container": {**MOUNTED, **container}}


NAMED = config_map(name="sharing")
NUMBERED = {"volumes": [{"name": "config", "configMap": {"name": "sharing-v2"}}]}
VARIABLE = {"name": "CONFIG_VERSION", "value": "2"}
CHANGING = {"name": "NVIDIA_CONFIG_SHA", "value": "3f2a"}
BESIDE_A_SECRET = {"volumes": [*VOLUMES["volumes"], {"name": "s", "secret": {"secretName": "s"}}]}


def found(*resources: Resource) -> tuple[int, int]:
    """How much of a stack is refused, and how much is told."""
    stack = together(pool(), *resources)
    refused, told = (
        findings(rule, *stack)
        for rule in (device_plugin_config_restart, device_plugin_restart_unclear)
    )
    words = "the DaemonSet plugin reads the ConfigMap sharing"
    assert all(text.startswith(words) for text in (*refused, *told))
    return len(refused), len(told)


@pytest.mark.parametrize(
    "resources",
    [
        (NAMED, plugin(**READS)),
        (config_map(DIVIDED, name="sharing"), plugin(**READS)),
        (NAMED, plugin(**reading(env=[], args=["--config-file=/config/config.yaml"]))),
        (NAMED, plugin(own={"annotations": {"pulumi.com/timeoutSeconds": "60"}}, **READS)),
    ],
)
def test_a_new_file_does_not_reach_a_plugin_that_nothing_restarts(
    resources: tuple[Resource, ...],
) -> None:
    """A program shared each GPU by eight instead of four, and four pods stayed pending."""
    assert found(*resources) == (1, 0)


@pytest.mark.parametrize(
    "resources",
    [
        # Something may restart it that the rule does not know.
        (NAMED, plugin({"annotations": {"wave": "1"}}, **READS)),
        (NAMED, plugin({"labels": {"app": "plugin", "is": "new"}}, **READS)),
        (NAMED, plugin(own={"annotations": {"wave.pusher.com/update": "true"}}, **READS)),
        (NAMED, plugin(**reading(env=[*MOUNTED["env"], VARIABLE]))),
        (NAMED, plugin(**READS, initContainers=[{"name": "config", "image": "busybox"}])),
        (config_map(name="sharing-v2"), plugin(**{**READS, **NUMBERED})),
        (NAMED, plugin(own={"name": "plugin-3f2a"}, **READS)),
        (NAMED, plugin(**reading(env=[*MOUNTED["env"], CHANGING]))),
        (NAMED, plugin(**reading(args=["--config-hash=3f2a"]))),
        (NAMED, plugin(**reading(command=["sh", "-c", "nvidia-device-plugin & inotifywait"]))),
        (NAMED, plugin(**reading(livenessProbe={"exec": {"command": ["cmp"]}}))),
        (NAMED, plugin(**reading(envFrom=[{"configMapRef": {"name": "sharing"}}]))),
        (NAMED, plugin({"labels": {"app": "plugin-3f2a"}}, **READS)),
        (NAMED, plugin(**{**READS, **BESIDE_A_SECRET})),
        # The name is an output: a ConfigMap that is replaced replaces the DaemonSet too.
        (
            replace(NAMED, provider="on-own"),
            replace(plugin(**READS), provider="on-own", made_of={"spec": ["sharing"]}),
        ),
        (
            NAMED,
            plugin(**READS),
            Resource(type="command:local:Command", name="rollout", properties={}),
        ),
        # The file may not decide anything, or may not be read.
        (config_map("version: v1", name="sharing"), plugin(**READS)),
        (NAMED, plugin(**reading(env=[{"name": "CONFIG_FILE", "value": "/other/config.yaml"}]))),
        (NAMED, plugin(**reading(volumeMounts=[]))),
        (NAMED, plugin(**VOLUMES)),
        # Perhaps they are on two clusters.
        (replace(NAMED, provider="on-own"), replace(plugin(**READS), provider="other-provider")),
    ],
)
def test_what_may_go_on_as_before_is_told(resources: tuple[Resource, ...]) -> None:
    other = Resource(type="pulumi:providers:kubernetes", name="other-provider", properties={})
    extra = (other,) if any(one.provider == other.name for one in resources) else ()
    assert found(*resources, *extra) == (0, 1)


@pytest.mark.parametrize(
    "resources",
    [
        (NAMED, plugin(CHECKSUM, **READS)),
        (NAMED, plugin({"annotations": {"config-HASH": "1"}}, **READS)),
        (NAMED, plugin(own={"annotations": {"reloader.stakater.com/auto": "true"}}, **READS)),
        # Each version has a name of its own, and the DaemonSet changes with it.
        (config_map(), plugin(**READS)),
        (
            config_map(name="sharing", annotations={"pulumi.com/autonamed": "true"}),
            plugin(**READS),
        ),
        # Nobody here knows whether, and how, it changes.
        (plugin(**READS),),
        (config_map(name="other"), plugin(**READS)),
        (config_map(name="sharing", namespace="elsewhere"), plugin(**READS)),
        (NAMED, plugin()),
        (NAMED, plugin(**READS, image="prometheus:1")),
    ],
)
def test_what_restarts_it_or_needs_no_restart(resources: tuple[Resource, ...]) -> None:
    assert found(*resources) == (0, 0)


DRA = {"image": "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.8.0"}


@pytest.mark.parametrize(
    "how", [{"command": ["gpu-kubelet-plugin"]}, {"args": ["gpu-kubelet-plugin"]}]
)
def test_a_dra_driver_is_no_device_plugin(how: dict[str, Any]) -> None:
    """A DRA driver was told to be a device plugin that nothing restarts."""
    driver = {**MOUNTED, **DRA, **how, "name": "dra"}
    assert found(NAMED, plugin(**VOLUMES, container=driver)) == (0, 0)
    # Beside a device plugin, only that one is told.
    beside = plugin(**VOLUMES, containers=[{**MOUNTED, "name": "ctr", "image": PLUGIN}, driver])
    assert found(NAMED, beside) == (0, 1)
