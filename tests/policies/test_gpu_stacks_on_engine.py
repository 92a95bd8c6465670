"""GPU stacks that break, made by a program without these components: what stops them, and says why.

Without the policy pack an update goes through, or fails as AKS fails it, and `aksgpu check` has the
cause. With the pack the update is refused before anything is sent, with what to do.
"""

from pathlib import Path

import pytest

from machine_setup import Engine, ensure_helm
from rehearsal.cloud import Cloud
from tests.bench import ROOT
from tests.cluster_bench import ClusterBench
from tests.names import unique
from tests.policies.test_pack_on_engine import found
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes
from aks_preview.resources import AgentPool
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={name!r}, location="eastus")
cluster = aks.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_={name!r}, location="eastus",
    dns_prefix="c", identity={{"type": "SystemAssigned"}}, agent_pool_profiles=[
        {{"name": "system", "mode": "System", "vm_size": "Standard_D4ds_v5", "count": 1}}])
gpu = aks.AgentPool(
    "gpu", resource_group_name=group.name, resource_name_=cluster.name, agent_pool_name="gpu",
    vm_size="Standard_NC8as_T4_v3", count=1, node_taints=["sku=gpu:NoSchedule"],
    gpu_profile={{"driver": "Install"}})
kubeconfig = pulumi.Output.secret(aks.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
).kubeconfigs[0].value.apply(
    lambda text: __import__("base64").b64decode(text).decode()))
on_cluster = pulumi.ResourceOptions(
    provider=kubernetes.Provider("provider", kubeconfig=kubeconfig), depends_on=[gpu])
pulumi.export("kubeconfig", kubeconfig)


def operator(**values):
    kubernetes.helm.v3.Release(
        "operator", name="gpu-operator", chart="gpu-operator", version="v26.7.0",
        namespace="gpu-operator", create_namespace=True, values=values,
        repository_opts={{"repo": "https://helm.ngc.nvidia.com/nvidia"}}, opts=on_cluster)


def sharing(replicas):
    text = f\"\"\"version: v1
sharing:
  timeSlicing:
    resources: [{{{{name: nvidia.com/gpu, replicas: {{replicas}}}}}}]
\"\"\"
    config = kubernetes.core.v1.ConfigMap(
        "sharing", metadata={{"name": "sharing"}}, data={{"config.yaml": text}}, opts=on_cluster)
    labels = {{"app": "plugin"}}
    container = {{
        "name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.0",
        "env": [{{"name": "CONFIG_FILE", "value": "/config/config.yaml"}}],
        "volume_mounts": [{{"name": "config", "mount_path": "/config"}}]}}
    pods = {{
        "node_selector": {{"agentpool": "gpu"}}, "containers": [container],
        "tolerations": [{{"key": "sku", "operator": "Exists"}}],
        "volumes": [{{"name": "config", "config_map": {{"name": "sharing"}}}}]}}
    template = {{"metadata": {{"labels": labels}}, "spec": pods}}
    kubernetes.apps.v1.DaemonSet(
        "plugin", metadata={{"name": "plugin"}},
        spec={{"selector": {{"match_labels": labels}}, "template": template}},
        opts=pulumi.ResourceOptions.merge(
            on_cluster, pulumi.ResourceOptions(depends_on=[config])))


def managed(**scaling):
    AgentPool("managed", {{
        "resourceGroupName": group.name, "resourceName": cluster.name, "agentPoolName": "managed",
        "vmSize": "Standard_NC8as_T4_v3", "count": 1, "mode": "User",
        "gpuProfile": {{"nvidia": {{"managementMode": "Managed"}}}}, **scaling}})


{more}
"""
OF_AKS = 'driver={"enabled": False}, toolkit={"enabled": False}'
EVERYWHERE = '"tolerations": [{"operator": "Exists"}]'
# AKS installs the driver, and the operator its toolkit.
HYBRID = (
    f'driver={{"enabled": False}}, daemonsets={{{EVERYWHERE}}}, '
    f'**{{"node-feature-discovery": {{"worker": {{{EVERYWHERE}}}}}}}'
)


@pytest.fixture
def stack(engine: Engine, todays_cloud: Cloud, tmp_path: Path) -> ClusterBench:
    ensure_helm()
    return ClusterBench(engine, todays_cloud, tmp_path).begin()


def test_broken_gpu_stacks_are_refused_by_the_pack_and_explained_by_the_check(
    stack: ClusterBench,
) -> None:
    name = unique("broken")

    def write(more: str) -> None:
        stack.write(PROGRAM.format(name=name, more=more))

    def is_refused(rule: str, resource: str, remedy: str) -> None:
        sent = len(stack.requests("PUT"))
        said = stack.pulumi("up", "--yes", "--policy-pack", str(ROOT / "policies"), fails=True)
        assert ("mandatory", rule, resource) in found(said)
        assert remedy in " ".join(said.split())
        assert len(stack.requests("PUT")) == sent

    def is_explained(cause: str, what: str, advice: str) -> None:
        def is_told() -> bool:
            (finding, *_) = stack.check(settle=0)["findings"] or [{}]
            said = [finding.get(key, "") for key in ("cause", "what", "advice")]
            return said[0] == cause and what in said[1] and advice in said[2]

        until(is_told, f"the check says {cause}: {what}")

    # An operator without tolerations.
    write(f"operator({OF_AKS})")
    is_refused("device-plugin-tolerates-pools", "gpu", "Add tolerations for them")
    stack.pulumi("up", "--yes", "--skip-preview")
    is_explained("plugin-missing", "the taints sku=gpu:NoSchedule", "daemonsets.tolerations")

    # A hybrid of driver and toolkit, which the pack does not judge.
    write(f"operator({HYBRID})")
    stack.pulumi("up", "--yes", "--skip-preview")
    is_explained("plugin-not-running", 'no runtime for "nvidia" is configured', "runtimeClass")

    # Shared GPUs whose plugin is not restarted.
    write("sharing(2)")
    stack.pulumi("up", "--yes", "--skip-preview")
    until(lambda: stack.gpus("gpu") == ("2", "2"), "the GPU is shared by two")
    assert stack.check()["cause"] == "gpus-schedulable"
    write("sharing(4)")
    stack.pulumi("up", "--yes", "--skip-preview")
    is_explained("plugin-outdated", "default/sharing", "kubectl delete pod -n default plugin-")
    assert stack.gpus("gpu") == ("2", "2")
    stack.kubectl("delete", "pods", "-l", "app=plugin")
    until(lambda: stack.gpus("gpu") == ("4", "4"), "the new plugin has read its ConfigMap")
    assert stack.check()["cause"] == "gpus-schedulable"

    # A managed pool that is autoscaled: AKS itself refuses it, with the rest of the stack in place.
    write("managed(enableAutoScaling=True, minCount=0, maxCount=2)")
    is_refused("gpu-managed-pool", "managed", "Remove enableAutoScaling")
    said = stack.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert "the cluster autoscaler is not supported on managed GPU node pools" in said
    stack.pulumi("destroy", "--yes", "--skip-preview")
