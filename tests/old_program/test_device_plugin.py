"""What the device plugin of commit abbf4de would have done on Azure, and what it does now.

That program was green on a rehearsal whose plugin never failed, and whose nodes cut their GPUs by
themselves. These tests keep its DaemonSet and see it red: rows C1 to C6 of the review of that day.
"""

from collections.abc import Iterator

import pytest

from engine import Engine
from rehearsal.cloud import Cloud
from tests.cluster_bench import ClusterBench
from tests.rehearsal.conftest import API_VERSION, Azure
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

NAME = "old-plugin"

CLUSTER = f"""
import pulumi
import pulumi_kubernetes as k8s
from components import (
    AksCluster, AksClusterArgs, GpuNodePool, GpuNodePoolArgs, NvidiaDevicePlugin,
    NvidiaDevicePluginArgs, PluginPoolArgs, ResourceGroup, ResourceGroupArgs, SystemPoolArgs,
)

group = ResourceGroup(
    "group", ResourceGroupArgs(resource_group_name="{NAME}", location="eastus")
)
names = dict(resource_group_name=group.resource_group_name, cluster_name="{NAME}")
cluster = AksCluster(
    "cluster",
    AksClusterArgs(
        **names,
        location="eastus",
        system_pool=SystemPoolArgs(pool_name="system", vm_size="Standard_D4ds_v5", count=1),
    ),
)
names["cluster_name"] = cluster.cluster_name
pools = [
    GpuNodePool(
        "t4", GpuNodePoolArgs(**names, pool_name="t4", vm_size="Standard_NC8as_T4_v3")
    ),
    GpuNodePool(
        "mig",
        GpuNodePoolArgs(
            **names, pool_name="mig", vm_size="Standard_NC24ads_A100_v4", mig_profile="MIG1g"
        ),
    ),
]
opts = pulumi.ResourceOptions(
    provider=k8s.Provider("kubernetes", kubeconfig=cluster.kubeconfig), depends_on=pools
)
pulumi.export("kubeconfig", cluster.kubeconfig)
"""
# As components/nvidia_device_plugin.py of abbf4de registered it, where no pool is another's.
OLD = """
namespace = k8s.core.v1.Namespace(
    "device-plugin", metadata={"name": "gpu-resources"}, opts=opts
)
labels = {"name": "nvidia-device-plugin-ds"}
sockets = "/var/lib/kubelet/device-plugins"
k8s.apps.v1.DaemonSet(
    "device-plugin",
    metadata={"name": "nvidia-device-plugin-daemonset", "namespace": namespace.metadata.name},
    spec={
        "selector": {"match_labels": labels},
        "update_strategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "priority_class_name": "system-node-critical",
                "tolerations": [
                    {"key": "CriticalAddonsOnly", "operator": "Exists"},
                    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
                ],
                "containers": [
                    {
                        "name": "nvidia-device-plugin-ctr",
                        "image": "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2",
                        "security_context": {
                            "allow_privilege_escalation": False,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volume_mounts": [{"name": "device-plugin", "mount_path": sockets}],
                    }
                ],
                "volumes": [{"name": "device-plugin", "host_path": {"path": sockets}}],
            },
        },
    },
    opts=opts,
)
"""
NEW = """
plugin_pools = [PluginPoolArgs.of(pool) for pool in pools]
NvidiaDevicePlugin("device-plugin", NvidiaDevicePluginArgs(pools=plugin_pools), opts)
"""
THEIRS = "theirs"


@pytest.fixture(scope="module")
def cluster(
    engine: Engine, whole_cloud: Cloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterBench]:
    """One cluster for all: a system pool, a pool of a T4, and one of an A100 cut into seven."""
    own = ClusterBench(engine, whole_cloud, tmp_path_factory.mktemp("old-program")).begin()
    own.up(CLUSTER)
    yield own
    own.up("")


@pytest.fixture
def site(cluster: ClusterBench) -> Iterator[ClusterBench]:
    yield cluster
    cluster.up(CLUSTER)


def test_the_old_plugin_crashed_on_nodes_without_gpus_and_failed_the_update(
    site: ClusterBench,
) -> None:
    """C1: nothing bound the plugin to nodes with GPUs, and it exits where it finds none.

    The provider waits ten minutes for a DaemonSet whose pods are all available.
    """
    output = site.up(CLUSTER + OLD, fails=True)

    assert "failed to fully initialize or become live: timed out waiting for the cond" in output
    assert "[Pod gpu-resources/nvidia-device-plugin-daemonset-" in output
    assert "[CrashLoopBackOff]" in output
    assert "system" in site.pools_with_plugin()
    (crashing,) = [
        pod
        for pod in site.objects("pods", "-n", "gpu-resources")
        if pod["status"]["containerStatuses"][0]["restartCount"]
    ]
    log = site.kubectl("logs", "-n", "gpu-resources", crashing["metadata"]["name"])
    assert "set up a toleration or nodeSelector to only deploy this plugin on GPU nodes" in log
    assert "initErrors" in site.resources()["device-plugin"]


def test_the_new_plugin_runs_only_on_pools_that_need_it(site: ClusterBench) -> None:
    site.up(CLUSTER + NEW)

    assert site.pools_with_plugin() == ["mig", "t4"]
    assert until(lambda: site.gpus("t4") == ("1", "1"), "the T4 is there")
    assert site.changes() == {}


def test_the_old_plugin_offered_a_partitioned_a100_as_one_gpu(site: ClusterBench) -> None:
    """C3: without MIG_STRATEGY the plugin knows no partitions."""
    site.up(CLUSTER + OLD, fails=True)
    assert until(lambda: site.gpus("mig") == ("1", "1"), "the A100 is there, whole")

    site.up(CLUSTER)
    site.up(CLUSTER + NEW)
    assert until(lambda: site.gpus("mig") == ("7", "7"), "its seven parts are there")


def test_the_old_default_was_a_plugin_of_2018(site: ClusterBench) -> None:
    """C4: `NvidiaDevicePluginArgs(pools=pools)` had the article's edition.

    That plugin waits where it finds no GPU, so the update ends; but it knows nothing of MIG.
    """
    of_2018 = OLD.replace(
        "oss/v2/nvidia/k8s-device-plugin:v0.18.2", "oss/nvidia/k8s-device-plugin:1.11"
    )
    site.up(CLUSTER + of_2018)
    assert until(lambda: site.gpus("mig") == ("1", "1"), "the A100 is there, whole")

    site.up(CLUSTER)
    site.up(CLUSTER + NEW)
    images = {
        pod["spec"]["containers"][0]["image"] for pod in site.objects("pods", "-n", "gpu-resources")
    }
    assert images == {"mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"}


@pytest.fixture
def their_pool(site: ClusterBench) -> Iterator[str]:
    """A pool of another team, with a plugin of its own, on the same cluster."""
    azure = Azure(site.cloud)
    address = site.resources()["cluster"]["id"].removeprefix(azure.subscription)
    path = f"{address}/agentPools/{THEIRS}?api-version={API_VERSION}"
    azure.call("PUT", path, {"properties": {"vmSize": "Standard_NC8as_T4_v3", "count": 1}})
    until(lambda: site.objects("nodes", "-l", f"agentpool={THEIRS}"), "their node is there")
    labels = {"app": THEIRS}
    container = {"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.0"}
    pod = {"nodeSelector": {"agentpool": THEIRS}, "containers": [container]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    own = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": THEIRS},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    site.kubectl("apply", "-f", "-", content=own)
    until(lambda: site.gpus(THEIRS) == ("1", "1"), "their GPU is there")
    yield THEIRS
    site.kubectl("delete", "daemonset", THEIRS)
    azure.call("DELETE", path)


def test_the_old_plugin_ran_on_another_teams_pool(site: ClusterBench, their_pool: str) -> None:
    """C2: `NotIn` our pools lets in every pool that is not in this stack."""
    site.up(CLUSTER + OLD, fails=True)
    assert until(lambda: site.gpus(their_pool) == ("1", "0"), "two plugins share their node")

    site.up(CLUSTER)
    site.up(CLUSTER + NEW)
    assert their_pool not in site.pools_with_plugin()
    assert until(lambda: site.gpus(their_pool) == ("1", "1"), "their GPU is theirs again")


@pytest.fixture
def namespace(site: ClusterBench) -> Iterator[str]:
    """The namespace, with something in it that others have put there."""
    site.kubectl("create", "namespace", "gpu-resources")
    site.kubectl("create", "configmap", "of-others", "-n", "gpu-resources")
    yield "gpu-resources"
    site.up(CLUSTER)
    site.kubectl("delete", "namespace", "gpu-resources", "--ignore-not-found")


def test_the_old_component_could_not_use_an_existing_namespace(
    site: ClusterBench, namespace: str
) -> None:
    """C5: the namespace was always created, and went with all that others had put into it."""
    assert "already exists" in site.up(CLUSTER + OLD, fails=True)

    shared = NEW.replace("plugin_pools)", "plugin_pools, create_namespace=False)")
    site.up(CLUSTER + shared)
    assert site.pools_with_plugin() == ["mig", "t4"]
    site.up(CLUSTER)
    assert "of-others" in site.kubectl("get", "configmaps", "-n", namespace)


JOB = """
k8s.batch.v1.Job(
    "sample-job",
    metadata={"name": "samples-tf-mnist-demo"},
    spec={
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "samples-tf-mnist-demo",
                        "image": "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu",
                        "resources": {"limits": {"nvidia.com/gpu": "1"}},
                    }
                ],
                "restart_policy": "OnFailure",
            }
        }
    },
    opts=opts,
)
"""


def test_the_old_sample_job_had_ten_minutes_in_any_pool(site: ClusterBench) -> None:
    """C6: a pool that grows from zero, boots and installs a driver may need longer.

    No component sets or takes a time limit; this is left for the clusters and pools to come.
    """
    # No plugin: the job's pod waits, as for a node that is not there yet.
    output = site.up(CLUSTER + JOB, fails=True)

    assert "'samples-tf-mnist-demo' timed out waiting to be Ready" in output
    assert "Insufficient nvidia.com/gpu" in output
