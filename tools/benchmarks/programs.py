"""The programs to compare: the same pools, created in different ways."""

from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType

# At its end, writes the peak memory in kilobytes.
_MEMORY = """
import atexit, os, resource
atexit.register(
    lambda: open(os.environ["BENCH_MEMORY"], "w").write(
        str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    )
)
"""

_COMPONENTS = """
from components import GpuNodePool, GpuNodePoolArgs

for index in range(POOLS):
    GpuNodePool(
        f"pool{index}",
        GpuNodePoolArgs(
            resource_group_name="g", cluster_name="c", pool_name=f"pool{index}",
            vm_size="Standard_NC8as_T4_v3", count=1,
            **(dict(min_count=0, max_count=4) if SCALED else {}),
        ),
    )
"""

_AZURE_NATIVE = """
from pulumi_azure_native import containerservice as aks

for index in range(POOLS):
    aks.AgentPool(
        f"pool{index}",
        resource_group_name="g", resource_name_="c", agent_pool_name=f"pool{index}",
        mode="User", os_type="Linux", type="VirtualMachineScaleSets",
        vm_size="Standard_NC8as_T4_v3", count=1, node_taints=["sku=gpu:NoSchedule"],
        gpu_profile=aks.GPUProfileArgs(driver="Install"),
        **(dict(enable_auto_scaling=True, min_count=0, max_count=4) if SCALED else {}),
    )
"""

_BARE = """
import pulumi

class Pool(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("bare:index:Pool", name)
        pool = pulumi.CustomResource(
            "azure-native:containerservice:AgentPool",
            name,
            {
                "resourceGroupName": "g", "resourceName": "c", "agentPoolName": name,
                "mode": "User", "osType": "Linux", "type": "VirtualMachineScaleSets",
                "vmSize": "Standard_NC8as_T4_v3", "count": 1,
                "nodeTaints": ["sku=gpu:NoSchedule"], "gpuProfile": {"driver": "Install"},
                **(
                    {"enableAutoScaling": True, "minCount": 0, "maxCount": 4} if SCALED else {}
                ),
            },
            pulumi.ResourceOptions(parent=self, version=VERSION),
        )
        self.register_outputs({"id": pool.id})

for index in range(POOLS):
    Pool(f"pool{index}")
"""

WAYS: Mapping[str, str] = MappingProxyType(
    {"components": _COMPONENTS, "azure-native": _AZURE_NATIVE, "bare": _BARE}
)


def program(way: str, pools: int, *, scaled: bool) -> str:
    """Returns a program that registers this number of pools in one of the ways."""
    head = f"POOLS = {pools}\nSCALED = {scaled}\nVERSION = {version('pulumi-azure-native')!r}\n"
    return head + _MEMORY + WAYS[way]
