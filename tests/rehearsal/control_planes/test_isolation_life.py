"""GPU isolation in a real API server: what it changes, what it refuses, and what pods then see."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from aks_catalogue.gpu_isolation import AGENTS
from aks_catalogue.sample_pod import LOOK, sample_pod
from components import isolation_policies as policies
from tests.rehearsal.control_planes.conftest import SYSTEM_POOL, Body, Cluster
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

NAME = "NVIDIA_VISIBLE_DEVICES"
VOID = {"name": NAME, "value": "void"}
GPU = {"limits": {"nvidia.com/gpu": "1"}}
T4 = "Standard_NC8as_T4_v3"


def _objects() -> Iterator[Body]:
    """The policies and their bindings, as the component makes them."""
    version = "admissionregistration.k8s.io/v1"
    for name, kind, spec in (
        ("gives", "MutatingAdmissionPolicy", policies.hide_gpus(AGENTS)),
        ("pods", "ValidatingAdmissionPolicy", policies.refuse_other_ways(AGENTS)),
        ("variables", "ValidatingAdmissionPolicy", policies.refuse_variables(AGENTS)),
    ):
        yield {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        actions = {"validationActions": ["Deny"]} if kind.startswith("Validating") else {}
        yield {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": {"name": name},
            "spec": {"policyName": name, **actions},
        }


@pytest.fixture(scope="module")
def isolated(today: Cluster) -> Iterator[Cluster]:
    objects = {"apiVersion": "v1", "kind": "List", "items": [*_objects()]}
    today.apply(objects)
    try:
        # The API server learns of new policies a moment later.
        until(
            lambda: "is privileged" in _try(today, _pod(_container(securityContext=_PRIVILEGED))),
            "the policies are in force",
        )
        until(lambda: _env(_created(today, _pod(_container()))) == [VOID], "that of pods too")
        until(lambda: NAME in _try(today, REFUSED["secret"][0]), "and that of their values")
        yield today
    finally:
        today.run("delete", "-f", "-", content=objects)


_PRIVILEGED = {"privileged": True}


def _container(name: str = "main", **more: Any) -> Body:
    return {"name": name, "image": "nvcr.io/nvidia/cuda:12.5.0-base-ubuntu22.04", **more}


def _pod(*containers: Body, namespace: str = "default", **spec: Any) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": namespace},
        "spec": {"containers": [*containers], **spec},
    }


def _try(cluster: Cluster, manifest: Body) -> str:
    """Why the API server refuses an object; empty if it would take it."""
    done = cluster.run("create", "--dry-run=server", "-f", "-", content=manifest)
    return str(done.stderr) if done.returncode else ""


def _created(cluster: Cluster, manifest: Body) -> Body:
    """An object as the API server would keep it."""
    done = cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", content=manifest)
    body: Body = json.loads(done)
    return body


def _env(pod: Body, kind: str = "containers", index: int = 0) -> list[Mapping[str, str]]:
    found: list[Mapping[str, str]] = pod["spec"][kind][index].get("env", [])
    return found


def test_each_container_that_asks_for_none_gets_none(isolated: Cluster) -> None:
    own = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    pod = _created(
        isolated,
        _pod(
            _container("asks", resources=GPU, env=own),
            _container("plain"),
            _container("with-variables", env=own),
            _container("zero", resources={"limits": {"nvidia.com/gpu": 0, "cpu": "1"}}),
            _container("share", resources={"limits": {"nvidia.com/gpu.shared": "1"}}),
            _container("slice", resources={"limits": {"nvidia.com/mig-1g.10gb": 2}}),
            initContainers=[_container("first"), _container("second", resources=GPU)],
        ),
    )
    names = [container["name"] for container in pod["spec"]["containers"]]
    assert names == ["asks", "plain", "with-variables", "zero", "share", "slice"]
    assert [_env(pod, index=index) for index in range(6)] == [
        own, [VOID], [*own, VOID], [VOID], [], []
    ]  # fmt: skip
    assert [_env(pod, "initContainers", index) for index in range(2)] == [[VOID], []]


def test_pods_of_controllers_get_none_either(isolated: Cluster) -> None:
    isolated.kubectl("create", "deployment", "isolated", "--image=busybox")
    pods = until(lambda: isolated.objects("pods", "-l", "app=isolated"), "it has a pod")
    assert _env(pods[0]) == [VOID]
    isolated.kubectl("delete", "deployment", "isolated")


REFUSED = {
    "all": (_pod(_container(env=[{"name": NAME, "value": "all"}])), f"main sets {NAME}"),
    "all with a gpu": (
        _pod(_container(resources=GPU, env=[{"name": NAME, "value": "all"}])), f"sets {NAME}"
    ),
    "number": (_pod(_container(env=[{"name": NAME, "value": "0"}])), f"sets {NAME}"),
    "empty": (_pod(_container(env=[{"name": NAME}])), f"sets {NAME}"),
    "from a config map": (
        _pod(
            _container(
                env=[{"name": NAME, "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}]
            )
        ),
        f"sets {NAME}",
    ),
    "twice": (
        _pod(_container(env=[VOID, {"name": NAME, "value": "all"}])), f"sets {NAME}"
    ),
    "second container": (
        _pod(_container(), _container("second", env=[{"name": NAME, "value": "all"}])),
        "the container second sets",
    ),
    "init container": (
        _pod(
            _container(),
            initContainers=[_container("first", env=[{"name": NAME, "value": "all"}])],
        ),
        "the container first sets",
    ),
    "prefix": (
        _pod(
            _container(
                resources=GPU,
                envFrom=[{"prefix": "NVIDIA_", "configMapRef": {"name": "a"}}],
            )
        ),
        "envFrom with a prefix",
    ),
    "privileged": (_pod(_container(securityContext=_PRIVILEGED)), "main is privileged"),
    **{
        f"host path {path}": (
            _pod(_container(), volumes=[{"name": "v", "hostPath": {"path": path}}]),
            "a volume has the devices",
        )
        for path in (
            "/", "/dev", "/dev/", "//dev", "/dev/./nvidia0", "/dev/nvidia0", "/dev//nvidiactl",
            "/./dev",
        )
    },
    "config map": (
        {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {NAME: "all"},
        },
        f"the key {NAME}",
    ),
    "secret": (
        {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
            "stringData": {NAME: "all"},
        },
        f"the key {NAME}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_other_ways_are_refused_with_what_to_do(isolated: Cluster, case: str) -> None:
    manifest, words = REFUSED[case]
    refusal = _try(isolated, manifest)
    assert words in refusal
    assert "aks-gpu/gpu-isolation=exempt" in refusal


TAKEN = {
    "void": _pod(_container(env=[VOID])),
    "none": _pod(_container(env=[{"name": NAME, "value": "none"}])),
    "a gpu": _pod(_container(resources=GPU)),
    "host paths": _pod(
        _container(),
        volumes=[
            {"name": "a", "hostPath": {"path": "/dev/kmsg"}},
            {"name": "b", "hostPath": {"path": "/var/log"}},
            {"name": "c", "hostPath": {"path": "/device"}},
            {"name": "d", "emptyDir": {}},
        ],
    ),
    "variables": _pod(
        _container(
            envFrom=[
                {"configMapRef": {"name": "a"}},
                {"prefix": "APP_", "secretRef": {"name": "b"}},
            ]
        )
    ),
    "not privileged": _pod(_container(securityContext={"privileged": False})),
    "config map": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}},
    "binary": {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "binaryData": {"a": "AAAA"},
    },
}  # fmt: skip


@pytest.mark.parametrize("case", TAKEN)
def test_what_leaves_gpus_alone_is_taken(isolated: Cluster, case: str) -> None:
    assert _try(isolated, TAKEN[case]) == ""


def test_agents_are_left_alone(isolated: Cluster) -> None:
    """By the names of the usual namespaces, and by a label that an administrator sets."""
    agent = _container(securityContext=_PRIVILEGED)
    isolated.kubectl("create", "namespace", "watchers")
    assert "is privileged" in _try(isolated, _pod(agent, namespace="watchers"))
    isolated.kubectl("label", "namespace", "watchers", "aks-gpu/gpu-isolation=exempt")
    until(lambda: _try(isolated, _pod(agent, namespace="watchers")) == "", "it is exempt")
    for namespace in ("watchers", "kube-system"):
        assert _env(_created(isolated, _pod(_container(), namespace=namespace))) == []
    isolated.kubectl("delete", "namespace", "watchers")


def test_a_container_for_debugging_gets_none(isolated: Cluster) -> None:
    isolated.kubectl("run", "debugged", "--image=busybox", "--", "sleep", "1000")
    for name in ("one", "two"):
        isolated.kubectl("debug", "debugged", "--image=busybox", f"--container={name}")
    pod = json.loads(isolated.kubectl("get", "pod", "debugged", "-o", "json"))
    assert [_env(pod, "ephemeralContainers", index) for index in range(2)] == [[VOID], [VOID]]
    done = isolated.run(
        "debug", "debugged", "--image=busybox", "--container=three", f"--env={NAME}=all"
    )
    assert f"the container three sets {NAME}" in done.stderr
    isolated.kubectl("delete", "pod", "debugged", "--now")


def _looked(cluster: Cluster, pool: str, namespace: str, **more: Any) -> list[str]:
    """What a container on a GPU node tells that it has."""
    pod = sample_pod(None, {"agentpool": pool}, [])
    pod["spec"]["containers"][0] |= {"command": [*LOOK], "resources": {}}
    pod["metadata"] = {"name": "look", "namespace": namespace}
    pod["spec"]["containers"][0] |= more
    cluster.apply(pod)
    log = ("logs", "look", "-n", namespace)
    until(lambda: cluster.run(*log).stdout.endswith("looked\n"), "the pod has looked")
    lines: list[str] = cluster.kubectl(*log).splitlines()[:-1]
    cluster.kubectl("delete", "pod", "look", "-n", namespace, "--now")
    return lines


def test_a_pod_sees_the_gpus_that_it_did_not_ask_for_until_they_are_isolated(
    isolated: Cluster, pool_name: str
) -> None:
    """Past the scheduler: where a pod has the GPU, any other one on the node has it too."""
    isolated.install_plugin()
    isolated.put_pool(pool_name, vmSize=T4)
    isolated.kubectl("create", "namespace", "open")
    isolated.kubectl("label", "namespace", "open", "aks-gpu/gpu-isolation=exempt")
    until(lambda: isolated.gpus(pool_name) == [("1", "1")], "the node offers its GPU")
    everything = ["/dev/nvidia0"]
    assert _looked(isolated, pool_name, "open") == everything
    assert _looked(isolated, pool_name, "open", env=[VOID]) == []
    assert _looked(isolated, pool_name, "open", securityContext=_PRIVILEGED) == everything
    assert _looked(isolated, pool_name, "default") == []
    assert _looked(isolated, pool_name, "default", resources=GPU) == everything
    isolated.kubectl("delete", "namespace", "open")
    isolated.remove_plugin()
    isolated.delete(f"/agentPools/{pool_name}")


@pytest.mark.nightly
def test_an_older_cluster_has_no_policies_that_change_pods(
    another: Callable[[], Cluster],
) -> None:
    """They came with 1.36. A stack with isolation came up here on 1.35, and would not on Azure."""
    cluster = another()
    cluster.put({"agentPoolProfiles": [SYSTEM_POOL], "kubernetesVersion": "1.35"})
    gives, *_ = _objects()
    done = cluster.run("apply", "-f", "-", content=gives)
    assert 'no matches for kind "MutatingAdmissionPolicy"' in done.stderr
    cluster.put({"agentPoolProfiles": [SYSTEM_POOL], "kubernetesVersion": "1.36"})
    until(lambda: cluster.run("get", "--raw", "/readyz").stdout == "ok", "it answers again")
    cluster.apply(gives)
    cluster.delete()
