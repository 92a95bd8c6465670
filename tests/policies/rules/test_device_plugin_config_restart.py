"""Device plugins that go on with a configuration that is no longer theirs."""

from dataclasses import replace
from typing import Any

import pytest

from policies.rules.device_plugin_config_restart import device_plugin_config_restart
from tests.policies.gpu_stacks import TOLERATION, daemon_set, pool, together
from tests.policies.policy_harness import Resource, findings

READS: dict[str, Any] = {"volumes": [{"name": "config", "configMap": {"name": "sharing"}}]}
CHECKSUM = {"annotations": {"checksum/config": "0123"}}


def config_map(**metadata: Any) -> Resource:
    return Resource(
        type="kubernetes:core/v1:ConfigMap",
        name="sharing",
        properties={"metadata": metadata, "data": {"config.yaml": "version: v1"}},
    )


def plugin(
    metadata: dict[str, Any] | None = None, own: dict[str, Any] | None = None, **pods: Any
) -> Resource:
    made = daemon_set(TOLERATION, **pods)
    template = {**made.properties["spec"]["template"], "metadata": metadata or {}}
    return replace(made, properties={"metadata": own or {}, "spec": {"template": template}})


def found(*resources: Resource) -> list[str]:
    return findings(device_plugin_config_restart, *together(pool(), *resources))


def test_a_new_file_does_not_reach_a_plugin_that_nothing_restarts() -> None:
    """A program shared each GPU by eight instead of four, and four pods stayed pending."""
    (told,) = found(config_map(name="sharing"), plugin(**READS))
    assert told.startswith(
        "the DaemonSet plugin reads the ConfigMap sharing only when its pods start"
    )


@pytest.mark.parametrize(
    "resources",
    [
        (config_map(name="sharing"), plugin(CHECKSUM, **READS)),
        (config_map(name="sharing"), plugin({"annotations": {"config-HASH": "1"}}, **READS)),
        (
            config_map(name="sharing"),
            plugin(own={"annotations": {"reloader.stakater.com/auto": "true"}}, **READS),
        ),
        # Each version has a name of its own, and the DaemonSet changes with it.
        (config_map(), plugin(**READS)),
        # Nobody here knows whether, and how, it changes.
        (plugin(**READS),),
        (config_map(name="other"), plugin(**READS)),
        (config_map(name="sharing"), plugin()),
        (config_map(name="sharing"), plugin(**READS, image="prometheus:1")),
    ],
)
def test_what_restarts_it_or_needs_no_restart(resources: tuple[Resource, ...]) -> None:
    assert found(*resources) == []
