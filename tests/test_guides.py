"""What docs/from-inline-pools.md says, done on the rehearsal cloud."""

import re

import pytest

from tests.bench import ROOT, Bench
from tests.names import unique

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PAGE = (ROOT / "docs" / "from-inline-pools.md").read_text()
CLUSTER = """
import pulumi
from pulumi_azure_native import containerservice, resources
from components import GpuNodePool, GpuNodePoolArgs

SYSTEM = dict(name="system", mode="System", count=1, vm_size="Standard_D4ds_v5")
INLINE = dict(name="training", mode="User", count=2, vm_size="Standard_NC8as_T4_v3")
group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
cluster = containerservice.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_={name!r},
    location="eastus",
    dns_prefix="inline",
    identity=dict(type="SystemAssigned"),
    agent_pool_profiles=[
        dict(pool, os_type="Linux", type="VirtualMachineScaleSets") for pool in {pools}
    ],
)
"""


def block(beginning: str) -> str:
    """An indented block of the page, without its indentation."""
    (match,) = re.findall(rf"(?m)^    {re.escape(beginning)}\n(?:(?:    .*)?\n)*?(?=\S)", PAGE)
    return "".join(line.removeprefix("    ") + "\n" for line in match.splitlines())


def test_an_inline_pool_becomes_a_standalone_resource(bench: Bench) -> None:
    name = unique("inline")
    bench.up(CLUSTER.format(name=name, pools="[SYSTEM, INLINE]"))
    subscription = bench.resources()["cluster"]["id"].split("/")[2]
    file = bench.folder / "import.json"
    written = block("{").replace("ID/", f"{subscription}/").replace("GROUP", name)
    file.write_text(written.replace("CLUSTER", name))
    bench.pulumi("import", "--file", str(file), "--yes", "--generate-code=false")

    pool, *_ = block("GpuNodePool(").split("\n\n")
    after = CLUSTER.format(name=name, pools="[SYSTEM]") + pool
    bench.write(after)

    assert bench.update() == {"cluster": "update", "training": "update"}
    bench.pulumi("refresh", "--yes", "--skip-preview")
    assert bench.update() == {"cluster": "update"}
    assert not bench.requests("DELETE")
    made = [request for request in bench.requests("PUT") if request["path"].endswith("/training")]
    assert len(made) == 1, "the taint, and no other request"
