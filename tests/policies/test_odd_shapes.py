"""Programs that write a text where an object belongs: the cluster refuses that, no rule breaks."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from policies.rules import RULES
from tests.policies.gpu_stacks import TOLERATION, daemon_set, pool, release, required, together
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import CPU

EXPRESSION = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
ENV = {"name": "FAIL_ON_INIT_ERROR", "value": "true"}
PLUGIN = daemon_set(
    TOLERATION,
    affinity=required([EXPRESSION]),
    nodeSelector={"kubernetes.io/os": "linux"},
    container={"args": ["--mig-strategy=none"], "command": ["nvidia-device-plugin"], "env": [ENV]},
    initContainers=[{"name": "a", "image": "busybox", "env": [ENV]}],
)
TAINT = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
T4 = {
    "key": "karpenter.azure.com/sku-name",
    "operator": "In",
    "values": ["Standard_NC4as_T4_v3"],
}
NODES = {"requirements": [T4], "taints": [TAINT], "startupTaints": [TAINT]}
NODE_POOL = Resource(
    type="kubernetes:karpenter.sh/v1:NodePool",
    name="nodes",
    properties={"spec": {"template": {"spec": NODES}, "limits": {"nvidia.com/gpu": 1}}},
)
WORKSPACE = Resource(
    type="kubernetes:kaito.sh/v1beta1:Workspace",
    name="workspace",
    properties={"resource": {"instanceType": "Standard_NC4as_T4_v3"}},
)
VALUES: dict[str, Any] = {
    "driver": {"enabled": True},
    "devicePlugin": {"enabled": True},
    "daemonsets": {"tolerations": [TOLERATION]},
    "mig": {"strategy": "none"},
}
RESOURCES = [
    PLUGIN,
    NODE_POOL,
    WORKSPACE,
    release("gpu-operator", **VALUES),
    release("nvidia-device-plugin", affinity=required([EXPRESSION]), tolerations=[TOLERATION]),
    Resource(
        type="kubernetes:nvidia.com/v1:ClusterPolicy", name="policy", properties={"spec": VALUES}
    ),
]
ODD: list[Any] = ["x", 5, [None], {"A": "b"}, ["x"], None]
POOLS = (
    pool(vmSize="Standard_NC24ads_A100_v4", gpuInstanceProfile="MIG1g"),
    pool("system", vmSize=CPU, nodeTaints=[]),
)


def with_one_part_odd(whole: Any, odd: Any) -> Iterator[Any]:
    """The whole with each of its parts, at whatever depth, replaced."""
    places = whole if isinstance(whole, Mapping) else range(len(whole))
    for place in places:
        inside = whole[place]
        parts = [odd]
        if isinstance(inside, Mapping | list):
            parts += with_one_part_odd(inside, odd)
        for part in parts:
            if isinstance(whole, Mapping):
                yield {**whole, place: part}
            else:
                yield [*whole[:place], part, *whole[place + 1 :]]


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.type.rpartition(":")[2])
def test_no_rule_breaks(resource: Resource, odd: Any) -> None:
    """A `driver: x` or an `env: [null]` ended the whole pack with a traceback."""
    for number, properties in enumerate(with_one_part_odd(resource.properties, odd)):
        broken = Resource(type=resource.type, name="odd", properties=properties)
        for rule in RULES if number == 0 else LOOKING:
            findings(rule, *together(*POOLS, broken))


LOOKING = [
    rule
    for rule in RULES
    if rule.name
    in {
        "gpu-stack-owner-unclear", "device-plugin-toleration-unclear",
        "device-plugin-bound-to-pools", "device-plugin-mig-strategy", "gpu-nodes-provisioned",
        "gpu-pool-tainted", "gpu-size-retired", "kubeconfig-secret", "container-image-pinned",
    }
]  # fmt: skip
