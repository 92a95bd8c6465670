"""GPU nodes that no pool of AKS's makes: the pack did not see them."""

from typing import Any

import pytest
from pulumi_policy import Policy

from policies.rules.allowed_gpu_sizes import allowed_gpu_sizes
from policies.rules.gpu_nodes_provisioned import gpu_nodes_provisioned
from policies.rules.gpu_pool_tainted import gpu_pool_tainted
from policies.rules.gpu_size_retired import gpu_size_retired
from policies.rules.gpu_size_unknown import gpu_size_unknown
from tests.policies.gpu_stacks import asks
from tests.policies.policy_harness import Resource, findings

T4 = asks("karpenter.azure.com/sku-name", "In", "Standard_NC4as_T4_v3")
FAMILY, COUNT = "karpenter.azure.com/sku-family", "karpenter.azure.com/sku-gpu-count"
TAINTS = [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
LIMITS = {"nvidia.com/gpu": "4"}


def node_pool(
    *requirements: dict[str, Any], limits: Any = None, version: str = "v1", **template: Any
) -> Resource:
    spec = {"template": {"spec": {"requirements": [*requirements], **template}}}
    return Resource(
        type=f"kubernetes:karpenter.sh/{version}:NodePool",
        properties={"spec": {**spec, **({"limits": limits} if limits else {})}},
    )


@pytest.mark.parametrize(
    ("requirements", "can_have_gpus", "are_named"),
    [
        ([T4], True, True),
        ([asks("node.kubernetes.io/instance-type", "In", "Standard_NC4as_T4_v3")], True, True),
        ([asks(FAMILY, "In", "N")], True, False),
        ([asks(COUNT, "Gt", "0")], True, False),
        # Without requirements a pod that asks for a GPU gets one.
        ([], True, False),
        ([asks(FAMILY, "In", "D", "E")], False, False),
        ([asks(FAMILY, "NotIn", "N")], False, False),
        ([asks(COUNT, "DoesNotExist")], False, False),
        ([asks(COUNT, "In", "0")], False, False),
        ([asks("karpenter.azure.com/sku-name", "In", "Standard_D4ds_v5")], False, True),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_node_pools(
    requirements: list[dict[str, Any]], can_have_gpus: bool, are_named: bool, version: str
) -> None:
    unlimited = findings(gpu_nodes_provisioned, node_pool(*requirements, version=version))
    assert any("has no limit for nvidia.com/gpu" in text for text in unlimited) == can_have_gpus
    assert any("of any size" in text for text in unlimited) == (can_have_gpus and not are_named)
    limited = findings(gpu_nodes_provisioned, node_pool(*requirements, limits=LIMITS))
    assert not any("no limit" in text for text in limited)


RETIRED = asks("karpenter.azure.com/sku-name", "In", "Standard_NC6s_v3", "Standard_NC9_v9")


@pytest.mark.parametrize(
    ("rule", "resource", "expected"),
    [
        (gpu_size_retired, node_pool(RETIRED), "This NodePool has Standard_NC6s_v3, which Azure"),
        (gpu_size_retired, node_pool(T4), None),
        (gpu_size_unknown, node_pool(RETIRED), "This NodePool has the GPU size Standard_NC9_v9"),
        (gpu_pool_tainted, node_pool(T4), "This NodePool has the GPU size Standard_NC4as_T4_v3"),
        (gpu_pool_tainted, node_pool(T4, taints=TAINTS), None),
        (gpu_pool_tainted, node_pool(T4, startupTaints=TAINTS), None),
        (allowed_gpu_sizes, node_pool(T4), "This NodePool"),
    ],
)
def test_rules_on_sizes_and_taints_see_them(
    rule: Policy, resource: Resource, expected: str | None
) -> None:
    config = {"sizes": ["Standard_NC8as_T4_v3"]} if rule is allowed_gpu_sizes else None
    found = findings(rule, resource, config=config)
    assert [text.startswith(expected or "-") for text in found] == [True] * bool(expected)


EKS = {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}
BEFORE_1 = {"nodeClassRef": {"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass"}}
AKS = {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}}


@pytest.mark.parametrize(
    ("of_cloud", "is_judged"), [(EKS, False), (BEFORE_1, False), (AKS, True), ({}, True)]
)
def test_node_pools_of_other_clouds_pass(of_cloud: dict[str, Any], is_judged: bool) -> None:
    """One of EKS, beside AKS in a program, was told to use karpenter.azure.com/sku-name."""
    sizes = asks("node.kubernetes.io/instance-type", "In", "Standard_NC9_v9", "Standard_NC6s_v3")
    for rule in (gpu_nodes_provisioned, gpu_size_unknown, gpu_size_retired, gpu_pool_tainted):
        assert bool(findings(rule, node_pool(sizes, **of_cloud))) == is_judged
    assert bool(findings(gpu_nodes_provisioned, node_pool(**of_cloud))) == is_judged
