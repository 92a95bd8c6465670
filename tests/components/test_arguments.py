"""Whether callers in any language can use the components."""

import ast
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

import components
from tests.bench import Bench
from tests.conftest import Deploy

PUBLIC: list[type[Any]] = [
    member for name in components.__all__ if inspect.isclass(member := getattr(components, name))
]
ARGUMENTS = [kind for kind in PUBLIC if kind.__name__.endswith("Args")]
COMPONENTS = [kind for kind in PUBLIC if issubclass(kind, pulumi.ComponentResource)]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda kind: str(kind.__name__))
def test_pulumi_can_make_a_schema_of_a_component(component: type[Any]) -> None:
    """No unions, and no resources of ours among the arguments: Pulumi has no words for them."""
    analyzer = Analyzer("aks-gpu")
    definition = analyzer.analyze_component(component)

    assert set(definition.inputs) == set(definition.inputs_mapping)
    assert definition.outputs
    # What decides which resources exist, and who makes them, cannot come later, and says so.
    nested = [kind.properties for kind in analyzer.type_definitions.values()]
    for properties in [definition.inputs, *nested]:
        for name, found in properties.items():
            assert bool(found.plain) == ("Plain" in (found.description or "")), name


@pytest.mark.parametrize("kind", ARGUMENTS, ids=lambda kind: str(kind.__name__))
def test_every_argument_has_a_docstring(kind: type[Any]) -> None:
    assert documented(kind) == {field.name for field in fields(kind)}
    assert kind.__doc__
    assert "(" not in kind.__doc__.partition("\n")[0], "the one that dataclasses make"


@pytest.mark.parametrize("kind", COMPONENTS, ids=lambda kind: str(kind.__name__))
def test_every_output_has_a_docstring(kind: type[Any]) -> None:
    for base in kind.__mro__:
        if base.__module__.startswith("components."):
            assert documented(base) == set(inspect.get_annotations(base))


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


def documented(kind: type[Any]) -> set[str]:
    """The fields with a docstring below them, where IDEs and Pulumi's schemas look for it."""
    (definition,) = [
        node
        for node in ast.parse(Path(inspect.getfile(kind)).read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    ]
    return {
        field.target.id
        for field, below in zip(definition.body, definition.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def test_a_late_value_is_judged_when_it_comes(deploy: Deploy) -> None:
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
    with pytest.raises(pulumi.InputPropertiesError, match=r"cluster: network\.mode: input should"):
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
@pytest.mark.parametrize("mode", ["'overlaid'", "pulumi.Output.from_input('overlaid')"])
def test_a_python_program_is_told_its_mistakes_without_a_traceback(bench: Bench, mode: str) -> None:
    """Pulumi's Python host printed fifteen lines of ours above the one that said what was wrong."""
    bench.write(FOREIGN.format(mode=mode))

    printed = bench.pulumi("preview", fails=True)

    assert "cluster: network.mode: " in printed
    assert "Traceback" not in printed
