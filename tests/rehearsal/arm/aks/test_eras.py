"""What each era's Azure takes, and what it refuses."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aks_catalogue.today import TODAY_VARIABLE
from rehearsal import cloud
from rehearsal.cloud import CloudError
from tests.rehearsal.conftest import FAST, Azure, new_cluster, wait_until_made

V = "?api-version=2026-08-01"
SPECIALIZED = {"UseGPUDedicatedVHD": "true"}
Start = Callable[..., Any]


@pytest.fixture(scope="module")
def azure_today(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    home = tmp_path_factory.mktemp("today")
    yield Azure(cloud.start(home, FAST))
    assert cloud.stop(home)


@pytest.fixture(scope="module")
def cluster_today(azure_today: Azure) -> str:
    group = "/resourceGroups/group"
    azure_today.call("PUT", f"{group}{V}", {"location": "eastus"})
    path = f"{group}/providers/Microsoft.ContainerService/managedClusters/cluster"
    assert azure_today.call("PUT", f"{path}{V}", new_cluster()).status == 201
    wait_until_made(azure_today, path)
    return path


def put(
    azure: Azure, cluster: str, name: str, size: str, headers: dict[str, str] | None = None
) -> Any:
    body = {"properties": {"vmSize": size, "count": 1}}
    return azure.call("PUT", f"{cluster}/agentPools/{name}{V}", body, headers=headers)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("Standard_NC6", ("2023-09-06", "Standard_NC8as_T4_v3")),
        ("standard_nc6s_v2", ("2023-09-06", "Standard_NC24ads_A100_v4")),
        ("Standard_NC6s_v3", ("2025-09-30",)),
        ("Standard_NV4as_v4", ("2026-09-30",)),
        ("Standard_ND96isr_MI300X_v5", ("AMD Instinct MI300X",)),
    ],
)
def test_today_refuses_retired_sizes(
    azure_today: Azure, cluster_today: str, size: str, words: tuple[str, ...]
) -> None:
    refused = put(azure_today, cluster_today, "gpu", size)
    assert (refused.status, refused.body["code"]) == (400, "BadRequest")
    assert refused.body["subcode"] == "VMSizeNotSupported"
    assert "is not allowed in your subscription in location 'eastus'" in refused.body["message"]
    for word in words:
        assert word in refused.body["message"]
    assert azure_today.call("GET", f"{cluster_today}/agentPools/gpu{V}").status == 404


@pytest.mark.parametrize(
    ("name", "size"),
    [("a", "Standard_NC8as_T4_v3"), ("b", "Standard_D4ds_v5"), ("c", "standard_e16s_V5")],
)
def test_today_accepts_sizes_that_are_offered(
    azure_today: Azure, cluster_today: str, name: str, size: str
) -> None:
    assert put(azure_today, cluster_today, name, size).status == 201


def test_today_has_no_specialized_image(azure_today: Azure, cluster_today: str) -> None:
    refused = put(azure_today, cluster_today, "gpu", "Standard_NC8as_T4_v3", SPECIALIZED)
    assert refused.status == 400
    assert "2025-01-10" in refused.body["message"]
    assert "UseGPUDedicatedVHD" in refused.body["message"]
    others = {"UseGPUDedicatedVHD": "false", "usegen2vm": "true"}
    assert put(azure_today, cluster_today, "d", "Standard_NC8as_T4_v3", others).status == 201


def test_today_refuses_a_cluster_with_a_retired_size(
    azure_today: Azure, cluster_today: str
) -> None:
    path = cluster_today.replace("cluster", "other")
    pool = {"name": "system", "mode": "System", "vmSize": "Standard_NC6"}
    path = f"/resourceGroups/group/providers/Microsoft.ContainerService/managedClusters/other{V}"
    refused = azure_today.call("PUT", path, new_cluster(agentPoolProfiles=[pool]))
    assert (refused.status, refused.body["subcode"]) == (400, "VMSizeNotSupported")
    refused = azure_today.call("PUT", path, new_cluster(), headers=SPECIALIZED)
    assert (refused.status, refused.body["subcode"]) == (400, "GPUDedicatedVHDRetired")
    assert azure_today.call("GET", path).status == 404


def test_the_articles_era_accepts_its_sizes_and_its_image(azure: Azure, cluster: str) -> None:
    azure.register_specialized_image()
    assert put(azure, cluster, "gpu", "Standard_NC6", SPECIALIZED).status == 201
    assert put(azure, cluster, "amd", "Standard_NV4as_v4").status == 201


def test_the_environment_of_an_era_sets_its_date(azure: Azure, azure_today: Azure) -> None:
    assert azure.cloud.environment()[TODAY_VARIABLE] == "2021-07-01"
    # Today is whatever day it is for whoever started the cloud.
    assert TODAY_VARIABLE not in azure_today.cloud.environment()


def test_the_articles_era_has_gpu_pools_for_linux_only(azure: Azure, group: str) -> None:
    windows = {"osType": "Windows", "count": 1}
    cluster = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/mixed"
    network = {"networkPlugin": "azure"}
    body = new_cluster(networkProfile=network, windowsProfile={"adminUsername": "azureuser"})
    assert azure.call("PUT", f"{cluster}{V}", body).status == 201
    wait_until_made(azure, cluster)
    refused = azure.call(
        "PUT",
        f"{cluster}/agentPools/win{V}",
        {"properties": {**windows, "vmSize": "Standard_NC6"}},
    )
    assert (refused.status, refused.body["code"]) == (400, "InvalidParameter")
    assert "Linux node pools only" in refused.body["message"]


def test_a_home_keeps_its_era(tmp_path: Path) -> None:
    home = tmp_path / "cloud"
    cloud.start(home, FAST, "article")
    try:
        with pytest.raises(CloudError, match="runs in the era `article`, not `today`"):
            cloud.start(home, FAST)
    finally:
        assert cloud.stop(home)
    with pytest.raises(CloudError, match="is a rehearsal of the era `article`"):
        cloud.start(home, FAST, "today")
