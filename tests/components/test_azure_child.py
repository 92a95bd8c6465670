from typing import Any

import pulumi
import pytest
from pulumi_azure_native import containerservice as aks
from pulumi_azure_native import resources

from components.azure_child import azure_child
from tests.conftest import Deploy, Graph

GROUP = {"resource_group_name": "g"}
POOL = GROUP | {"resource_name_": "c", "agent_pool_name": "gpu", "vm_size": "s", "count": 2}
CLUSTER = GROUP | {"resource_name_": "c", "location": "eastus", "tags": {"team": "a"}}
CASES = [
    (resources.ResourceGroup, resources.ResourceGroupArgs, GROUP | {"location": "eastus"}),
    (aks.AgentPool, aks.AgentPoolArgs, POOL),
    (aks.ManagedCluster, aks.ManagedClusterArgs, CLUSTER),
]


@pytest.mark.parametrize(("kind", "args", "inputs"), CASES)
def test_is_what_azure_native_would_have_made(
    deploy: Deploy, kind: Any, args: Any, inputs: dict[str, Any]
) -> None:
    made: list[pulumi.CustomResource] = []

    def ours() -> None:
        plain = {name.removesuffix("_"): value for name, value in inputs.items()}
        made.append(azure_child(kind, "it", args(**plain), pulumi.ResourceOptions(protect=True)))

    def theirs() -> None:
        made.append(kind("it", opts=pulumi.ResourceOptions(protect=True), **inputs))

    def facts(graph: Graph) -> tuple[Any, ...]:
        (it,) = graph.registered
        return it.type, it.name, it.inputs, it.options.version, it.options.protect

    assert facts(deploy(ours)) == facts(deploy(theirs))
    # No output is hidden: each is there, with a value or without.
    own, original = made
    names = [name for name, member in vars(kind).items() if isinstance(member, property)]
    assert all(isinstance(getattr(original, name), pulumi.Output) for name in names)
    assert all(isinstance(getattr(own, name), pulumi.Output) for name in names)
