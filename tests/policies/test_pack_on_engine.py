"""The policy pack as a reviewer meets it: enforced by the real engine."""

import pytest

from tests.bench import ROOT, Bench

pytestmark = pytest.mark.engine

PROGRAM = """
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
aks.AgentPool(
    "pool",
    resource_group_name=group.name,
    resource_name_="c",
    agent_pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3",
    os_type={os_type!r},
    count=1,
)
"""
PACK = ["--policy-pack", str(ROOT / "policies")]


@pytest.mark.parametrize("command", [["preview"], ["up", "--yes"]])
def test_a_windows_gpu_pool_is_refused_before_anything_is_sent(
    bench: Bench, command: list[str]
) -> None:
    group = f"windows-{command[0]}"
    bench.write(PROGRAM.format(group=group, os_type="Windows"))

    said = bench.pulumi(*command, *PACK, fails=True)

    assert "[mandatory]" in said
    assert "gpu-pool-linux-only" in said
    assert "runs Windows. GPU pools are for Linux only" in said
    assert not bench.requests("PUT", group)


def test_a_linux_gpu_pool_passes(bench: Bench) -> None:
    bench.write(PROGRAM.format(group="linux", os_type="Linux"))

    assert "aks-gpu-policies" in bench.pulumi("preview", *PACK)
