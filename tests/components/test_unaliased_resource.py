from typing import Any

import pulumi
import pytest
from pulumi_azure_native import containerservice as aks
from pulumi_azure_native import resources

from components.declared import camel_case
from components.unaliased_resource import unaliased_resource
from tests.conftest import Deploy, Graph

GROUP = {"resource_group_name": "g"}
POOL = GROUP | {"resource_name_": "c", "agent_pool_name": "gpu", "vm_size": "s", "count": 2}
CLUSTER = GROUP | {"resource_name_": "c", "location": "eastus", "tags": {"team": "a"}}
CASES = [
    (resources.ResourceGroup, resources.ResourceGroupArgs, GROUP | {"location": "eastus"}),
    (aks.AgentPool, aks.AgentPoolArgs, POOL),
    (aks.ManagedCluster, aks.ManagedClusterArgs, CLUSTER),
]


@pytest.mark.parametrize(("cls", "args", "inputs"), CASES)
def test_registers_the_same_resource_as_azure_natives_constructor(
    deploy: Deploy, cls: Any, args: Any, inputs: dict[str, Any]
) -> None:
    created: list[pulumi.CustomResource] = []
    opts = pulumi.ResourceOptions(protect=True)

    def unaliased() -> None:
        properties = {camel_case(name.removesuffix("_")): value for name, value in inputs.items()}
        created.append(unaliased_resource(cls, args, "name", properties, opts))

    def by_constructor() -> None:
        created.append(cls("name", opts=opts, **inputs))

    def registration(graph: Graph) -> tuple[Any, ...]:
        (request,) = graph.registered
        options = request.options
        return request.type, request.name, request.inputs, options.version, options.protect

    assert registration(deploy(unaliased)) == registration(deploy(by_constructor))
    # Each output exists on both, with a value or without.
    outputs = [name for name, member in vars(cls).items() if isinstance(member, property)]
    for resource in created:
        assert all(isinstance(getattr(resource, name), pulumi.Output) for name in outputs)
