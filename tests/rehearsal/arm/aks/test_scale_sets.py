"""The scale sets of pools, as a check of a cluster reads them."""

import asyncio
import re
from pathlib import Path

from aksgpu.check import fabric
from aksgpu.check.cluster_view import ScaleSet
from rehearsal.control_planes.nodes import scale_set
from tests.rehearsal.conftest import API_VERSION, Azure

FABRIC = "Standard_ND96isr_MI300X_v5"
SCALE_SETS = "/providers/Microsoft.Compute/virtualMachineScaleSets"


def test_a_scale_set_has_one_placement_group_if_the_feature_was_there_before_its_pool(
    shop: Azure, tmp_path: Path
) -> None:
    path = shop.cluster_in("eastus")
    cluster = shop.call("GET", f"{path}?api-version={API_VERSION}").body
    uid = cluster["properties"]["resourceUID"]
    group = f"/resourceGroups/{cluster['properties']['nodeResourceGroup']}"

    def placed(name: str, size: str = FABRIC) -> dict[str, bool | str]:
        gpu = {"gpuProfile": {"driver": "None"}}
        body = {"properties": {"vmSize": size, "count": 0, **gpu}}
        made = shop.call("PUT", f"{path}/agentPools/{name}?api-version={API_VERSION}", body)
        assert made.status == 201, made
        return asked(scale_set(uid, name))

    def asked(name: str, **more: str) -> dict[str, bool | str]:
        of_pool = ScaleSet(
            "training", f"{shop.subscription}{group}{SCALE_SETS}/{name}", shop.cloud.subscription
        )
        environment = {**shop.cloud.environment(), "HOME": str(tmp_path), **more}
        return asyncio.run(fabric.placement([of_pool], environment))

    assert placed("before") == {"training": False}
    shop.register("Microsoft.ContainerService", "AKSInfinibandSupport")
    assert placed("after") == {"training": True}
    assert asked(scale_set(uid, "before")) == {"training": False}
    assert placed("plain", "Standard_NC4as_T4_v3") == {"training": False}
    (unknown,) = asked("none").values()
    assert "was not found" in str(unknown)
    (unknown,) = asked(scale_set(uid, "after"), ARM_CLIENT_SECRET="wrong").values()
    assert re.search("AADSTS7000215|invalid_client", str(unknown))
    listed = shop.call("GET", f"{group}{SCALE_SETS}?api-version=2024-07-01").body["value"]
    by_pool = {each["tags"]["aks-managed-poolName"]: each["properties"] for each in listed}
    assert {name for name, has in by_pool.items() if has["singlePlacementGroup"]} == {"after"}
