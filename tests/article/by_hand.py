"""The article by hand: its commands, unchanged, with the real az and kubectl."""

import os
import shlex
import shutil
from pathlib import Path

from aks_catalogue.device_plugin import CONFLICT_CONDITION
from kube_client.objects import is_true
from machine_setup.cache import Say
from rehearsal.cloud import Cloud
from tests.article import names
from tests.article.arm_view import Azure
from tests.article.commands import Runner, wait_until
from tests.article.kubectl import Kubectl, gpus, kubectl_environment
from tests.article.steps import Step, Way

ENDED = ("Failed", "Succeeded")
ONE_NODE = f"--node-vm-size {names.SIZE} --node-count 1"

# The commands below are written as in the article, with its names.


def sign_in(cloud: Cloud, azure_cli: Path, kubernetes: Path, say: Say) -> Way:
    """Registers this cloud with the CLI and signs in, which the article expects to be done."""
    path = os.pathsep.join([str(azure_cli), str(kubernetes), os.environ.get("PATH", os.defpath)])
    folder = cloud.home / "by-hand"
    shutil.copytree(names.MANIFESTS, folder)
    environment = {
        **cloud.environment(),
        "PATH": path,
        # az sends the SSH key of whoever runs it.
        "HOME": str(folder),
        "AZURE_CONFIG_DIR": str(folder / "azure"),
        "AZURE_CORE_COLLECT_TELEMETRY": "false",
        "AZURE_CORE_NO_COLOR": "true",
        **kubectl_environment(folder / names.GROUP),
    }
    way = Way(Azure(cloud), Runner(folder, environment, say))
    read = way.runner.read
    read("az", "cloud", "register", "--name", "rehearsal", "--endpoint-resource-manager", cloud.url)
    read("az", "cloud", "set", "--name", "rehearsal")
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text(cloud.client_secret, encoding="utf-8")
    identity = ("--username", cloud.client_id, "--password", f"@{secret}")
    read("az", "login", "--service-principal", *identity, "--tenant", cloud.tenant)
    return way


def _group(way: Way) -> None:
    _run(way, "az group create --name myResourceGroup --location eastus")


def _cluster(way: Way) -> None:
    _run(
        way,
        "az aks create --resource-group myResourceGroup --name myAKSCluster "
        "--node-vm-size Standard_NC6 --node-count 1",
    )


def _older_kubernetes(way: Way) -> None:
    """Not in the article: a version below its minimum must be refused."""
    cluster = f"--resource-group {names.GROUP} --name {names.OLD_CLUSTER} {ONE_NODE}"
    version = f"--kubernetes-version {names.OLD_KUBERNETES}"
    way.runner.attempt(*f"az aks create {cluster} {version}".split())


def _credentials(way: Way) -> None:
    _run(way, "az aks get-credentials --resource-group myResourceGroup --name myAKSCluster")
    way.clusters[names.GROUP] = Kubectl(way.runner, way.runner.folder / names.GROUP)
    _run(way, "kubectl get nodes")


def _namespace(way: Way) -> None:
    _run(way, "kubectl create namespace gpu-resources")


def _device_plugin(way: Way) -> None:
    _run(way, "kubectl apply -f nvidia-device-plugin-ds.yaml")
    _wait_for_gpu(way, names.FIRST_POOL)
    (node,) = way.cluster(names.GROUP).nodes(names.FIRST_POOL)
    _run(way, f"kubectl describe node {node['metadata']['name']}")


def _job(way: Way) -> None:
    _run(way, "kubectl apply -f samples-tf-mnist-demo.yaml")
    way.outputs["watch"] = _run(way, "kubectl get jobs samples-tf-mnist-demo --watch", until="1/1")
    _run(way, "kubectl get pods --selector app=samples-tf-mnist-demo")
    (pod,) = way.cluster(names.GROUP).items("pods", "--selector", f"app={names.JOB}")
    _run(way, f"kubectl logs {pod['metadata']['name']}")


def _clean_up(way: Way) -> None:
    _run(way, "kubectl delete jobs samples-tf-mnist-demo")


def _feature(way: Way) -> None:
    _run(
        way,
        "az feature register --name GPUDedicatedVHDPreview --namespace Microsoft.ContainerService",
    )
    features = (
        "az feature list -o table --query \"[?contains(name, 'Microsoft.ContainerService/"
        "GPUDedicatedVHDPreview')].{Name:name,State:properties.state}\""
    )
    wait_until("the feature is Registered", lambda: " Registered" in _run(way, features))
    _run(way, "az provider register --namespace Microsoft.ContainerService")


def _specialized_pool(way: Way) -> None:
    _run(
        way,
        "az aks nodepool add --name gpu --cluster-name myAKSCluster "
        "--resource-group myResourceGroup --node-vm-size Standard_NC6 --node-count 1 "
        "--aks-custom-headers UseGPUDedicatedVHD=true",
    )
    # The DaemonSet is on this cluster: what the article warns about, until it is deleted.
    wait_until("the conflict is reported", lambda: _conflict(way).endswith("True"), way.runner.say)
    way.outputs["conflict"] = _conflict(way)
    _run(way, "kubectl delete -f nvidia-device-plugin-ds.yaml")
    _wait_for_gpu(way, names.SPECIALIZED_POOL)


def _generation_2(way: Way) -> None:
    _run(
        way,
        f"az aks nodepool add --name {names.GENERATION_2_POOL} --cluster-name myAKSCluster "
        "--resource-group myResourceGroup --node-vm-size Standard_NC6s_v2 --node-count 1 "
        "--aks-custom-headers UseGPUDedicatedVHD=true,usegen2vm=true",
    )
    _wait_for_gpu(way, names.GENERATION_2_POOL)


def _new_cluster(way: Way) -> None:
    """The article's commands, with another group."""
    group = f"--resource-group {names.NEW_GROUP}"
    _run(way, f"az group create --name {names.NEW_GROUP} --location eastus")
    _run(
        way,
        f"az aks create --name myAKSCluster {group} --node-vm-size Standard_NC6 "
        "--node-count 1 --aks-custom-headers UseGPUDedicatedVHD=true",
    )
    file = way.runner.folder / names.NEW_GROUP
    _run(way, f"az aks get-credentials {group} --name myAKSCluster --file {shlex.quote(str(file))}")
    way.clusters[names.NEW_GROUP] = Kubectl(way.runner, file)
    _wait_for_gpu(way, names.FIRST_POOL, names.NEW_GROUP)


def _no_driver(way: Way) -> None:
    """Not in the article: creates the situation that its note is about."""
    cluster = f"--cluster-name {names.CLUSTER} --resource-group {names.NEW_GROUP}"
    pool = f"--name {names.NO_DRIVER_POOL} {ONE_NODE}"
    _run(way, f"az aks nodepool add {cluster} {pool} --gpu-driver None")
    run_without_driver(way)


def _windows(way: Way) -> None:
    """Not in the article: what it rules out."""
    cluster = f"--cluster-name {names.CLUSTER} --resource-group {names.GROUP}"
    pool = f"--name {names.WINDOWS_POOL} {ONE_NODE}"
    way.runner.attempt(*f"az aks nodepool add {cluster} {pool} --os-type Windows".split())


STEPS = (
    Step(_group, (4,)),
    Step(_cluster, (5,)),
    Step(_credentials, (6,)),
    Step(_older_kubernetes, (3,)),
    Step(_namespace, (7,)),
    Step(_device_plugin, (8, 15)),
    Step(_job, (2, 16, 18, 19)),
    Step(_clean_up, (20,)),
    Step(_feature),
    Step(_specialized_pool, (9, 11, 13, 14)),
    Step(_generation_2, (12,)),
    Step(_new_cluster, (10,)),
    Step(_no_driver, (17,)),
    Step(_windows, (1,)),
)


def run_without_driver(way: Way) -> None:
    """Runs the sample on the pool without a driver until it has ended."""
    kubectl = way.cluster(names.NEW_GROUP)
    kubectl.run("apply", "-f", str(names.MANIFESTS / names.NO_DRIVER_JOB_FILE))
    pods = ("pods", "--selector", f"app={names.JOB}-nodriver")

    def has_ended() -> bool:
        return any(pod["status"]["phase"] in ENDED for pod in kubectl.items(*pods))

    wait_until("the sample has ended on the node without a driver", has_ended, way.runner.say)


def _run(way: Way, command: str, until: str = "") -> str:
    return way.runner.run(*shlex.split(command), until=until)


def _wait_for_gpu(way: Way, pool: str, group: str = names.GROUP) -> None:
    kubectl = way.cluster(group)

    def offers_it() -> bool:
        return [gpus(node) for node in kubectl.nodes(pool)] == [("1", "1")]

    wait_until(f"the node of {pool} offers its GPU", offers_it, way.runner.say)


def _conflict(way: Way) -> str:
    (node,) = way.cluster(names.GROUP).nodes(names.SPECIALIZED_POOL)
    return " ".join(map(str, (*gpus(node), is_true(node, CONFLICT_CONDITION))))
