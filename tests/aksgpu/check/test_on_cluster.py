"""Each cause made for real, on a control plane of the rehearsal: what the check says of it."""

import pytest

from tests.aksgpu.check.conftest import (
    ONCE,
    TAINT,
    Site,
    gpu_pod,
    jobs,
    silent_kubelets,
    use_the_gpu,
)
from tests.faults import Faults
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]


def plugin_pod(name: str, pool: str) -> dict[str, object]:
    """A device plugin of somebody else's."""
    image = "nvcr.io/nvidia/k8s-device-plugin:v0.18.0"
    container = {"name": "plugin", "image": image}
    spec = {"nodeSelector": {"agentpool": pool}, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_a_cluster_with_schedulable_gpus_passes(site: Site) -> None:
    pool = site.pool()
    site.cluster.install_plugin()
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")

    checked = site.check()

    assert checked.code == 0
    assert checked.problems == []
    [node] = checked.document["nodes"]
    assert node["name"] == site.node(pool)
    assert node["gpus"] == {"capacity": 1, "allocatable": 1, "used": 0}
    assert node["driver"] == "present"
    assert node["plugin"] == "running"
    [plugin] = node["pluginPods"]
    assert plugin.startswith("gpu-resources/nvidia-device-plugin-daemonset-")
    table = site.check(json=False).printed
    assert site.node(pool) in table
    assert "Result: gpus-schedulable" in table


def test_managed_gpus_pass_until_aks_reports_a_problem(site: Site) -> None:
    """The node's plugin is no pod. It was fine with an Xid error: its GPU was still allocatable."""
    site.cluster.azure.register("Microsoft.ContainerService", "ManagedGPUExperiencePreview")
    pool = site.pool(gpuProfile={"nvidia": {"managementMode": "Managed"}})
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    assert site.kubectl("get", "pods", "-A", "-l", "name=nvidia-device-plugin-ds", "-o=name") == ""
    checked = site.check()
    assert (checked.code, checked.document["cause"]) == (0, "gpus-schedulable")
    [node] = checked.document["nodes"]
    assert (node["plugin"], node["pluginPods"]) == ("the node's own", [])
    [labels] = [each["metadata"]["labels"] for each in site.cluster.nodes(pool)]
    assert labels["kubernetes.azure.com/dcgm-exporter"] == "enabled"

    def reports(*kinds: str) -> None:
        """As the script of faults has it; what it no longer has ends."""
        node = {"node": f"^aks-{pool}-", "message": "Xid 79"}
        faults.script(*({**node, "condition": kind} for kind in kinds))

        def are_true() -> set[str]:
            [node] = site.cluster.nodes(pool)
            held = node["status"]["conditions"]
            return {each["type"] for each in held if each["status"] == "True"} - {"Ready"}

        until(lambda: are_true() == {*kinds}, f"the node reports {kinds}")

    faults = Faults(site.cluster.azure.cloud.home)
    reports("UnhealthyNvidiaDCGMServices")
    assert site.check(settle=ONCE).code == 0
    reports("UnhealthyNvidiaDCGMServices", "XIDErrors")
    problem = site.check(settle=ONCE).only("gpu-fault")
    assert problem["nodes"] == [site.node(pool)]
    assert "(XIDErrors: ScriptedFault: Xid 79)" in problem["what"]
    assert site.cluster.gpus(pool) == [("1", "1")]
    reports()
    assert site.check(settle=ONCE).code == 0
    faults.lift()


def test_a_taint_that_the_plugin_does_not_tolerate_is_reported(site: Site) -> None:
    pool = site.pool(nodeTaints=[TAINT, "other=x:PreferNoSchedule"])
    site.cluster.install_plugin()
    problem = site.check().only("plugin-missing")
    assert problem["nodes"] == [site.node(pool)]
    assert problem["what"].endswith(f"because of the taint {TAINT}")
    assert "gpu-resources/nvidia-device-plugin-daemonset" in problem["what"]


def test_two_plugins_on_one_node_are_reported(site: Site) -> None:
    pool = site.pool()
    site.cluster.install_plugin()
    site.cluster.apply(plugin_pod("second", pool))
    until(lambda: site.cluster.gpus(pool) == [("1", "0")], "they harm each other")
    problem = site.check().only("plugin-twice")
    assert problem["nodes"] == [site.node(pool)]
    assert "default/second" in problem["what"]
    assert "gpu-resources/nvidia-device-plugin-daemonset" in problem["what"]


def test_a_plugin_on_the_specialized_image_is_reported(site: Site) -> None:
    site.cluster.azure.register_specialized_image()
    pool = site.pool({"UseGPUDedicatedVHD": "true"})
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the image brings its GPU")
    fine = site.check()
    assert fine.code == 0
    assert fine.document["nodes"][0]["plugin"] == "the node's own"
    site.cluster.install_plugin()
    until(lambda: site.cluster.gpus(pool) == [("1", "0")], "they harm each other")
    problem = site.check().only("plugin-twice")
    assert "never install it on the specialized image" in problem["advice"]


def test_a_crashing_plugin_is_reported(site: Site) -> None:
    pool = site.pool()
    site.cluster.apply(plugin_pod("plugin", pool))
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}
    status = {"name": "plugin", "ready": False, "restartCount": 3, "image": "i", "imageID": "i"}
    status |= {"state": {"waiting": waiting}}
    site.patch("pod", "plugin", {"containerStatuses": [status]})
    until(lambda: site.cluster.gpus(pool) == [("0", "0")], "the GPU is gone")
    problem = site.check(settle=ONCE).only("plugin-not-running")
    assert "default/plugin does not run: CrashLoopBackOff: back-off 5m0s" in problem["what"]


def test_an_unschedulable_plugin_is_reported(site: Site) -> None:
    pool = site.pool()
    site.cluster.install_plugin()
    name, huge = "nvidia-device-plugin-ctr", {"requests": {"cpu": "1000"}}
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    # Off the other nodes: one at a time is updated, and this one shall be it.
    here = {"nodeSelector": {"agentpool": pool}}
    site.patch_plugin(here | {"containers": [{"name": name, "resources": huge}]})
    until(lambda: site.cluster.gpus(pool) == [("0", "0")], "the GPU is gone")
    pods = ("get", "pods", "-n", "gpu-resources", "-o", "yaml")
    until(lambda: "Insufficient cpu" in site.kubectl(*pods), "the scheduler has said so")
    problem = site.check(settle=ONCE).only("plugin-not-running")
    # The pod is not placed, and still it is known whose it is.
    assert problem["nodes"] == [site.node(pool)]
    assert "Insufficient cpu" in problem["what"]


def test_a_missing_driver_is_reported_with_todays_plugin(site: Site) -> None:
    """It exits where the plugin of 2018 waits: that it does not run is not the reason."""
    pool = site.pool(gpuProfile={"driver": "None"})
    site.cluster.install_plugin()
    name, image = (
        "nvidia-device-plugin-ctr",
        "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2",
    )
    site.patch_plugin(
        {"nodeSelector": {"agentpool": pool}, "containers": [{"name": name, "image": image}]}
    )
    pods = ("get", "pods", "-n", "gpu-resources", "--no-headers")
    until(lambda: "CrashLoopBackOff" in site.kubectl(*pods), "the plugin crashes")

    problem = site.check(settle=ONCE).only("driver-missing")

    assert problem["nodes"] == [site.node(pool)]
    assert "finds no driver: Incompatible strategy detected" in problem["what"]


def test_a_node_that_is_not_ready_is_reported(site: Site) -> None:
    pool = site.pool()
    site.cluster.install_plugin()
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    down = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "PLEG"}
    with silent_kubelets(site):
        site.patch("node", site.node(pool), {"conditions": [down]})
        checked = site.check(settle=ONCE, job=True)
    problem = checked.only("node-not-ready")
    assert problem["nodes"] == [site.node(pool)]
    assert "KubeletNotReady: PLEG" in problem["what"]
    # A job that cannot get a GPU is not waited for.
    assert checked.document["job"] is None
    assert checked.document["jobLeftOut"]


def test_a_cordoned_node_is_reported(site: Site) -> None:
    pool = site.pool()
    site.cluster.install_plugin()
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    site.kubectl("cordon", site.node(pool))
    checked = site.check()
    assert [finding["cause"] for finding in checked.document["findings"]] == ["node-cordoned"]


def test_a_job_without_a_free_gpu_waits(site: Site) -> None:
    use_the_gpu(site)
    checked = site.check(job=True, settle=ONCE, timeout=10.0)
    causes = {problem["cause"]: problem for problem in checked.problems}
    assert causes.keys() == {"gpus-all-used", "pod-pending"}
    assert "got no GPU in" in causes["pod-pending"]["what"]
    assert checked.document["cause"] == "gpus-all-used"
    assert jobs(site) == []


def test_a_pod_that_does_not_tolerate_the_pool_is_reported(site: Site) -> None:
    pool = site.pool(nodeTaints=[TAINT])
    site.cluster.apply(plugin_pod("plugin", pool) | {"metadata": {"name": "plugin"}})
    site.kubectl("delete", "pod", "plugin")
    tolerating = plugin_pod("plugin", pool)
    tolerating["spec"] |= {"tolerations": [{"operator": "Exists"}]}  # type: ignore[operator]
    site.cluster.apply(tolerating)
    site.cluster.apply(gpu_pod("intolerant"))
    until(lambda: site.cluster.gpus(pool) == [("1", "1")], "the GPU is there")
    pod = ("get", "pod", "intolerant", "-o", "yaml")
    until(lambda: "untolerated taint" in site.kubectl(*pod), "the scheduler has said so")
    problem = site.check(settle=ONCE).only("pod-pending")
    assert "default/intolerant is pending" in problem["what"]
    assert "untolerated taint" in problem["what"]
    assert "tolerations" in problem["advice"]


def test_a_job_runs_on_a_free_gpu(site: Site) -> None:
    pool = site.pool(nodeTaints=[TAINT])
    site.cluster.install_plugin()
    site.patch_plugin({"tolerations": [{"operator": "Exists"}]})
    checked = site.check(job=True)
    assert checked.code == 0
    job = checked.document["job"]
    assert (job["succeeded"], job["node"]) == (True, site.node(pool))
    assert job["log"][-2:] == ["Test PASSED", "Done"]
    assert jobs(site) == []
    assert "Test PASSED" in site.check(job=True, json=False).printed


def test_a_cuda_mismatch_of_the_sample_job_is_reported(site: Site) -> None:
    pool = site.pool(gpuProfile={"driver": "None"})
    node = site.node(pool)
    gpus = {"capacity": {"nvidia.com/gpu": "1"}, "allocatable": {"nvidia.com/gpu": "1"}}
    site.patch("node", node, gpus)
    checked = site.check(job=True)
    problem = checked.only("cuda-mismatch")
    assert "CUDA driver version is insufficient for CUDA runtime version" in problem["what"]
    assert "compatibility matrix" in problem["advice"]
    assert not checked.document["job"]["succeeded"]
    assert jobs(site) == []
