"""The specialized GPU image, as it was to be had in the article's days."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup import Engine
from rehearsal import cloud
from tests.aks_preview.conftest import POOL_API, Aks, PreviewBench
from tests.rehearsal.conftest import Azure, new_cluster, wait_until_made

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

HEADERS = {"UseGPUDedicatedVHD": "true", "usegen2vm": "true"}
FEATURE = (
    "from aks_preview.resources import FeatureRegistration\n"
    "feature = FeatureRegistration('feature', provider_namespace='Microsoft.ContainerService',"
    " feature_name='GPUDedicatedVHDPreview')\n"
)
AFTER_IT = ", opts=pulumi.ResourceOptions(depends_on=[feature])"


@pytest.fixture
def article(engine: Engine, tmp_path: Path) -> Iterator[tuple[PreviewBench, Aks]]:
    running = cloud.start(tmp_path / "cloud", time_scale=0.005, era="article")
    aks = Aks(Azure(running), "article", "c")
    group = f"/resourceGroups/{aks.group}?api-version=2025-04-01"
    aks.azure.call("PUT", group, {"location": "eastus"})
    aks.azure.call("PUT", f"{aks.path}?{POOL_API}", new_cluster())
    wait_until_made(aks.azure, aks.path)
    bench = PreviewBench(engine, running, tmp_path / "bench")
    bench.begin()
    yield bench, aks
    cloud.stop(tmp_path / "cloud")


def test_a_pool_waits_for_the_registration_of_its_feature(
    article: tuple[PreviewBench, Aks],
) -> None:
    bench, aks = article

    bench.up(FEATURE + aks.program(headers=HEADERS, more=AFTER_IT, vm_size="Standard_NC6s_v2"))

    sent = [
        (request["method"], request["path"].rpartition("/providers/")[2], request["headers"])
        for request in (*bench.requests("POST"), *bench.requests("PUT", "/agentPools/"))
    ]
    paths = [f"{method} {path}" for method, path, _ in sent]
    registered = "POST Microsoft.ContainerService/features/GPUDedicatedVHDPreview/register"
    again = "POST Microsoft.ContainerService/register"
    put = "PUT Microsoft.ContainerService/managedClusters/c/agentPools/gpu"
    assert paths.index(registered) < paths.index(again) < paths.index(put)
    assert sent[paths.index(put)][2].items() >= HEADERS.items()
    assert bench.changes() == {}


def test_a_pool_without_its_feature_is_refused(article: tuple[PreviewBench, Aks]) -> None:
    bench, aks = article
    pool = aks.program(headers=HEADERS, vm_size="Standard_NC6s_v2")

    output = bench.up(pool, fails=True)
    assert "PreviewFeatureNotRegistered" in output
    assert "with a FeatureRegistration" in output
    assert bench.resources() == {}

    namespace = "/providers/Microsoft.ContainerService"
    feature = f"/providers/Microsoft.Features{namespace}/features/GPUDedicatedVHDPreview"
    aks.azure.call("POST", f"{feature}/register?api-version=2021-07-01")
    aks.azure.wait(
        f"{feature}?api-version=2021-07-01",
        lambda reply: reply.body["properties"]["state"] == "Registered",
    )
    assert "not registered again" in bench.up(pool, fails=True)

    aks.azure.call("POST", f"{namespace}/register?api-version=2021-04-01")
    bench.up(pool)
    assert bench.changes() == {}
