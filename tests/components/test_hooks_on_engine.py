"""What is called right before a request for a resource."""

import pytest

from tests.bench import Bench

pytestmark = [pytest.mark.engine, pytest.mark.long]

TWO_OF_ONE_NAME = """
import pulumi
from components import GpuNodePool, GpuNodePoolArgs

for parent in ("first", "second"):
    GpuNodePool(
        "gpu",
        GpuNodePoolArgs(
            resource_group_name="group",
            cluster_name=parent,
            pool_name="gpu",
            vm_size="Standard_NC8as_T4_v3",
            count=0,
        ),
        pulumi.ResourceOptions(parent=pulumi.ComponentResource(f"test:{parent}", parent)),
    )
"""


def test_components_may_have_pools_of_one_name(bench: Bench) -> None:
    """A hook has a name of the whole program: the second pool of that name was refused."""
    bench.write(TWO_OF_ONE_NAME)
    assert bench.changes()["gpu"] == "create"
