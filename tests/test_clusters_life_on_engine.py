"""What is on a cluster, while the cluster changes: its certificates, its tags, and when it goes."""

import base64
from pathlib import Path

import pytest
import yaml

from machine_setup import Engine
from rehearsal.cloud import Cloud
from tests.bench import Bench
from tests.cluster_bench import ClusterBench
from tests.faults import Faults
from tests.names import unique
from tests.rehearsal.conftest import Azure

pytestmark = [pytest.mark.engine, pytest.mark.long]

IMAGE = "jsonpath={.spec.template.spec.containers[0].image}"
CREDENTIALS = "listClusterUserCredential"
# Of a group, and of a cluster.
API_VERSIONS = ("2025-04-01", "2026-08-01")


def brought_up(bench: Bench) -> str:
    """A stack with a device plugin and nodes for it, whose name is its cluster's."""
    name = unique("life")
    config = {
        "resourceGroup": {"name": name},
        "cluster": {"name": name},
        "gpuPools": [{"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}],
    }
    bench.write_stack(config)
    bench.pulumi("up", "--yes", "--skip-preview")
    assert {"device-plugin", "gpu", "cluster"} <= bench.resources().keys()
    return name


def removed_by_hand(bench: Bench, path: str) -> None:
    azure = Azure(bench.cloud)
    address = f"{path}?api-version={API_VERSIONS[path.count('/') > 2]}"
    assert azure.call("DELETE", address).status == 202
    azure.wait(address, lambda reply: reply.status == 404)


def cluster_path(name: str) -> str:
    group = f"/resourceGroups/{name}"
    return f"{group}/providers/Microsoft.ContainerService/managedClusters/{name}"


def test_what_kubectl_changes_is_found_and_restored_every_time(
    engine: Engine, whole_cloud: Cloud, tmp_path: Path
) -> None:
    """Pulumi's first update of an object makes its fields Pulumi's. From then on a change by
    kubectl was a conflict, and every preview with a refresh failed, that of a review too.
    """
    bench = ClusterBench(engine, whole_cloud, tmp_path).begin()
    brought_up(bench)
    plugin = ("--namespace", "gpu-resources", "daemonset/nvidia-device-plugin-daemonset")
    image = bench.kubectl("get", *plugin, "-o", IMAGE)

    for other in ("elsewhere.io/plugin:1", "elsewhere.io/plugin:2"):
        bench.kubectl("set", "image", *plugin, f"nvidia-device-plugin-ctr={other}")
        assert bench.changes("--refresh")["device-plugin"] == "update"
        bench.pulumi("up", "--refresh", "--yes")
        assert bench.kubectl("get", *plugin, "-o", IMAGE) == image

    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


@pytest.mark.nightly
def test_rotated_certificates_change_only_the_provider(whole_bench: Bench) -> None:
    """`az aks rotate-certs` had every Kubernetes object replaced, the device plugin too."""
    brought_up(whole_bench)
    kubeconfig = whole_bench.pulumi("stack", "output", "kubeconfig", "--show-secrets")
    rotated = yaml.safe_load(kubeconfig)
    cluster = rotated["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]) + b"# and another\n"
    cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    value = base64.b64encode(yaml.safe_dump(rotated).encode()).decode()
    faults = Faults(whole_bench.cloud.home)
    answer = {"kubeconfigs": [{"name": "clusterUser", "value": value}]}
    faults.script({"method": "POST", "path": CREDENTIALS, "status": 200, "body": answer})
    try:
        assert whole_bench.changes() == {"kubernetes": "update"}
    finally:
        faults.lift()
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def test_a_replaced_cluster_of_the_same_name_gets_new_objects(whole_bench: Bench) -> None:
    """The id of a cluster is its name's: by that alone, a second one looked like the first."""
    brought_up(whole_bench)
    objects = {"device-plugin", "kubernetes"}
    config = yaml.safe_load((whole_bench.folder / "project" / "Pulumi.test.yaml").read_text())
    config = {key.removeprefix("aks-gpu:"): value for key, value in config["config"].items()}

    # A label of Azure's is nothing to what is on the cluster, in a preview neither.
    whole_bench.write_stack(config | {"tags": {"team": "ml"}})
    assert not objects & whole_bench.changes().keys()

    unprotected = {**config["cluster"], "protect": False}
    replaced = config | {"network": {"podCidr": "10.9.0.0/16"}, "cluster": unprotected}
    whole_bench.write_stack(replaced)
    assert whole_bench.changes().keys() >= objects
    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


@pytest.mark.nightly
def test_a_stack_with_a_deleted_cluster_can_be_destroyed(whole_bench: Bench) -> None:
    """It stopped at "configured Kubernetes cluster is unreachable"."""
    name = brought_up(whole_bench)
    removed_by_hand(whole_bench, cluster_path(name))

    whole_bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")

    assert whole_bench.resources() == {}


def test_a_refresh_handles_a_deleted_cluster(
    whole_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page said that `destroy` works, which it does only before a refresh that failed."""
    name = brought_up(whole_bench)
    removed_by_hand(whole_bench, f"/resourceGroups/{name}")

    output = whole_bench.pulumi("refresh", "--yes", "--skip-preview", fails=True)
    assert "PULUMI_K8S_DELETE_UNREACHABLE" in output
    destroy = ("destroy", "--yes", "--ignore-protect", "--skip-preview")
    assert "unreachable" in whole_bench.pulumi(*destroy, fails=True)

    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    whole_bench.pulumi("refresh", "--yes", "--skip-preview")
    whole_bench.pulumi(*destroy)
    assert whole_bench.resources() == {}
