"""The component: three policies, each with what binds it, for all namespaces but those of agents.

What they do is tested in a real API server: tests/rehearsal/control_planes/test_isolation_life.py.
"""

from typing import Any

import pulumi
import pytest

from components import GpuIsolation, GpuIsolationArgs
from components.arguments import ArgumentsError
from tests.conftest import Deploy, Graph

POLICIES = {
    "aks-gpu-isolation",
    "aks-gpu-isolation-pods",
    "aks-gpu-isolation-variables",
}
BINDINGS = ("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding")


def deployed(deploy: Deploy, **args: Any) -> Graph:
    return deploy(lambda: GpuIsolation("isolation", GpuIsolationArgs(**args)))


def exempt(graph: Graph) -> list[list[str]]:
    policies = [*graph.all("MutatingAdmissionPolicy"), *graph.all("ValidatingAdmissionPolicy")]
    selectors = [
        policy.inputs["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
        for policy in policies
    ]
    assert all(
        label == {"key": "aks-gpu/gpu-isolation", "operator": "NotIn", "values": ["exempt"]}
        for _, label in selectors
    )
    assert all(by_name["operator"] == "NotIn" for by_name, _ in selectors)
    return [by_name["values"] for by_name, _ in selectors]


def test_each_policy_is_bound(deploy: Deploy) -> None:
    graph = deployed(deploy)
    made = [*graph.all("MutatingAdmissionPolicy"), *graph.all("ValidatingAdmissionPolicy")]
    assert {policy.inputs["metadata"]["name"] for policy in made} == POLICIES
    bound = [binding for kind in BINDINGS for binding in graph.all(kind)]
    assert {binding.inputs["spec"]["policyName"] for binding in bound} == POLICIES
    assert {resource.parent for resource in (*made, *bound)} == {"isolation"}
    (outputs,) = graph.outputs.values()
    assert {*outputs["policyNames"]} == POLICIES


@pytest.mark.parametrize(
    ("violations", "actions"), [("deny", ["Deny"]), ("warn", ["Warn", "Audit"])]
)
def test_a_violation_is_denied_or_warned_of(
    deploy: Deploy, violations: str, actions: list[str]
) -> None:
    graph = deployed(deploy, violations=violations)
    for binding in graph.all("ValidatingAdmissionPolicyBinding"):
        assert binding.inputs["spec"]["validationActions"] == actions
        # An update from one to the other was refused: what has both actions is invalid.
        is_own = binding.inputs["metadata"]["name"] == binding.inputs["spec"]["policyName"]
        assert is_own == (violations == "deny")


def test_agents_are_exempt_by_the_names_of_their_namespaces(deploy: Deploy) -> None:
    """Without their GPUs, the device plugin and the GPU Operator offer none to anybody."""
    usual = [
        "kube-system", "calico-system", "tigera-operator", "gatekeeper-system", "gpu-resources",
        "gpu-operator",
    ]  # fmt: skip
    assert exempt(deployed(deploy)) == [usual] * 3
    own = [pulumi.Output.from_input("monitoring"), "gpu-resources"]
    assert exempt(deployed(deploy, exempt_namespaces=own)) == [[*usual, "monitoring"]] * 3


def test_mistakes_are_refused_before_anything_is_created(deploy: Deploy) -> None:
    with pytest.raises(ArgumentsError) as refused:
        deployed(deploy, violations="refuse", exempt_namespaces=["Bad_Name"])
    assert "violations: " in str(refused.value)
    assert "exemptNamespaces[0]: 'Bad_Name' is not a valid namespace" in str(refused.value)
