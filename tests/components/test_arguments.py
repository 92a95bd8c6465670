"""Whether callers in any language can use the components."""

import inspect
from dataclasses import fields
from typing import Any

import pulumi
import pytest

import components
from components.package.docstrings import described
from tests.bench import Bench
from tests.conftest import Deploy

PUBLIC: list[type[Any]] = [
    member for name in components.__all__ if inspect.isclass(member := getattr(components, name))
]
ARGUMENTS = [kind for kind in PUBLIC if kind.__name__.endswith("Args")]
COMPONENTS = [kind for kind in PUBLIC if issubclass(kind, pulumi.ComponentResource)]


@pytest.mark.parametrize("kind", ARGUMENTS, ids=lambda kind: str(kind.__name__))
def test_every_argument_has_a_docstring(kind: type[Any]) -> None:
    assert all(described(kind, field.name) for field in fields(kind))
    assert kind.__doc__
    assert "(" not in kind.__doc__.partition("\n")[0], "the one that dataclasses make"


@pytest.mark.parametrize("kind", COMPONENTS, ids=lambda kind: str(kind.__name__))
def test_every_output_has_a_docstring(kind: type[Any]) -> None:
    for base in kind.__mro__:
        if base.__module__.startswith("components."):
            names = [name for name in inspect.get_annotations(base) if not name.startswith("_")]
            assert all(described(base, name) for name in names)


def test_child_resources_are_attributes(deploy: Deploy) -> None:
    """An output that a component does not have is read off them."""
    outputs: list[object] = []

    def program() -> None:
        group = components.ResourceGroup(
            "group", components.ResourceGroupArgs(resource_group_name="g", location="eastus")
        )
        cluster = components.AksCluster(
            "cluster",
            components.AksClusterArgs(
                resource_group_name="g",
                cluster_name="c",
                location="eastus",
                system_pool=components.SystemPoolArgs(vm_size="Standard_D4ds_v5"),
            ),
        )
        pool = components.GpuNodePool(
            "pool",
            components.GpuNodePoolArgs(
                resource_group_name="g",
                cluster_name="c",
                pool_name="gpu",
                vm_size="Standard_NC8as_T4_v3",
            ),
        )
        job = components.SampleJob("job", components.SampleJobArgs())
        outputs.extend(
            [
                group.resource_group.managed_by,
                cluster.managed_cluster.provisioning_state,
                pool.agent_pool.node_image_version,
                job.job.status,
            ]
        )

    deploy(program)
    assert [isinstance(output, pulumi.Output) for output in outputs] == [True] * 4


def test_a_value_of_an_output_is_validated_when_it_is_known(deploy: Deploy) -> None:
    """It ended in a KeyError, which named neither the component nor the property."""
    pool = components.SystemPoolArgs(vm_size="Standard_D4ds_v5")
    network = components.NetworkArgs(mode=pulumi.Output.from_input("bridge"))
    args = components.AksClusterArgs(
        resource_group_name="g",
        location="eastus",
        cluster_name="c",
        system_pool=pool,
        network=network,
    )
    with pytest.raises(pulumi.InputPropertiesError, match=r"cluster: network\.mode: must be"):
        deploy(lambda: components.AksCluster("cluster", args))


# A program of somebody else's; the second mistake comes to light late.
FOREIGN = """
import pulumi
from components import AksCluster, AksClusterArgs, NetworkArgs, SystemPoolArgs

AksCluster(
    "cluster",
    AksClusterArgs(
        resource_group_name="g",
        location="eastus",
        cluster_name="c",
        network=NetworkArgs(mode={mode}),
        system_pool=SystemPoolArgs(vm_size="Standard_D4ds_v5"),
    ),
)
"""


@pytest.mark.engine
@pytest.mark.parametrize(
    "mode",
    [
        "'overlaid'",
        pytest.param("pulumi.Output.from_input('overlaid')", marks=pytest.mark.nightly),
    ],
)
def test_mistakes_are_reported_without_a_traceback(bench: Bench, mode: str) -> None:
    """Pulumi's Python host printed fifteen lines of ours above the one that said what was wrong."""
    bench.write(FOREIGN.format(mode=mode))

    printed = bench.pulumi("preview", fails=True)

    assert "cluster: network.mode: " in printed
    assert "Traceback" not in printed
