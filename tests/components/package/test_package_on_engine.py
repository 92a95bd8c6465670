"""The package: components that the engine makes for a program that does not import them."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

from components.package.provider import Components
from tests.bench import ROOT, Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.long]

# One program, with the classes of the components or with the package.
PROGRAM = """
import pulumi
{classes}

group = ResourceGroup("group", dict(resource_group_name={name!r}, location="eastus"))
cluster = AksCluster("cluster", dict(
    resource_group_name=group.resource_group_name,
    location="eastus",
    cluster_name={name!r},
    dns_prefix="package",
    system_pool=dict(vm_size="Standard_D4ds_v5"),
    tags=dict(team=pulumi.Output.secret("secret-team-1")),
))
pool = GpuNodePool("train", dict(
    resource_group_name=group.resource_group_name,
    cluster_name=cluster.cluster_name,
    pool_name="train",
    vm_size="Standard_NC8as_T4_v3",
    count=pulumi.Output.from_input(2),
    zones=["1", "2"],
    labels=dict(team=cluster.cluster_name),
))
# The engine asks for them at the same time.
for other in ("one", "two", "three"):
    GpuNodePool(other, dict(
        resource_group_name=group.resource_group_name,
        cluster_name=cluster.cluster_name,
        pool_name=other,
        vm_size="Standard_NC8as_T4_v3",
        min_count=0,
        max_count=2,
    ))
pulumi.export("taints", pool.node_taints)
pulumi.export("stack", pool.gpu_stack)
"""
CLASSES = """
import components

def made(kind):
    parts = dict(system_pool=components.SystemPoolArgs)
    def make(name, args):
        args = {key: parts[key](**value) if key in parts else value for key, value in args.items()}
        return kind(name, getattr(components, kind.__name__ + "Args")(**args))
    return make

ResourceGroup, AksCluster, GpuNodePool = map(
    made, (components.ResourceGroup, components.AksCluster, components.GpuNodePool)
)
"""
REMOTE = """
def camel(name):
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))

def inputs(args):
    if not isinstance(args, dict):
        return args
    return {camel(name): inputs(value) for name, value in args.items()}

def made(kind, *outputs):
    class Remote(pulumi.ComponentResource):
        def __init__(self, name, args):
            props = dict.fromkeys(map(camel, outputs)) | inputs(args)
            super().__init__(f"aks-gpu:components:{kind}", name, props, None, remote=True)

        def translate_output_property(self, prop):
            return prop

    for name in outputs:
        setattr(Remote, name, property(lambda self, name=name: pulumi.get(self, camel(name))))
    return Remote

ResourceGroup = made("ResourceGroup", "resource_group_name")
AksCluster = made("AksCluster", "cluster_name", "kubeconfig")
GpuNodePool = made("GpuNodePool", "node_taints", "gpu_stack")
"""


def with_package(bench: Bench) -> None:
    """Says in the project where the package is, as `pulumi package add` does by its address."""
    file = bench.folder / "project" / "Pulumi.yaml"
    project: dict[str, Any] = yaml.safe_load(file.read_text())
    own = {"name": "aks-gpu", "path": str(ROOT / "components")}
    project["plugins"]["providers"].append(own)
    file.write_text(yaml.safe_dump(project))


def test_the_package_and_the_classes_make_the_same_resources(bench: Bench) -> None:
    name = unique("package")
    by_classes = PROGRAM.format(classes=CLASSES, name=name)
    by_package = PROGRAM.format(classes=REMOTE, name=name)
    bench.write(by_package)
    with_package(bench)

    bench.pulumi("preview")
    bench.pulumi("up", "--yes", "--skip-preview")
    assert bench.changes() == {}
    state = bench.deployment()
    bench.write(by_classes)
    with_package(bench)
    changes = bench.changes()
    assert changes == {}
    assert "secret-team-1" not in json.dumps(state)


def test_the_engine_reads_the_schema_without_a_warning(bench: Bench) -> None:
    # An executable, because the engine installs what a folder with a PulumiPlugin.yaml needs.
    plugin = bench.folder / "pulumi-resource-aks-gpu"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -u {ROOT / "components"} "$@"\n')
    plugin.chmod(0o755)
    ended = subprocess.run(
        [bench.engine.pulumi, "package", "get-schema", str(plugin)],
        cwd=bench.folder,
        env=bench.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    schema = json.loads(Components().schema)
    assert json.loads(ended.stdout)["resources"].keys() == schema["resources"].keys()


def test_wrong_arguments_are_refused_together(bench: Bench) -> None:
    """Each argument is wrong once: of another type, or a value that AKS refuses.

    What stood in for `sharing`, which could not be read, was judged as well.
    """
    schema = json.loads(Components().schema)
    arguments = schema["resources"]["aks-gpu:components:GpuNodePool"]["inputProperties"]
    other_types = {
        name: "text" if argument.get("type") in ("array", "object") else ["a list"]
        for name, argument in arguments.items()
        if name != "clusterName"
    }
    refused_values = {"poolName": "Train", "count": -1, "gpuStack": "mine", "colour": "green"}
    wrong = other_types | refused_values
    bench.write(f"import pulumi\n{REMOTE}\nGpuNodePool('train', {wrong!r})")
    with_package(bench)

    output = bench.pulumi("preview", fails=True)

    paths = re.findall(r"(?m)- property (\S+) .*has a problem", output)
    assert sorted(paths) == sorted([*wrong, "clusterName"])
    assert len(paths) > 30
