"""The offline kubernetes, as programs and people use it: through the real engine."""

import signal

import pytest

from tests.rehearsal.offline_plug_ins.kubernetes.conftest import KubernetesBench
from tests.rehearsal.offline_plug_ins.kubernetes.control_plane import FAILING_IMAGE, HANGING_IMAGE
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

PLUGIN = "nvidia-device-plugin-daemonset"

PREAMBLE = """
import os
import pulumi
import pulumi_kubernetes as k8s

kubeconfig = open(os.environ["KUBECONFIG_FILE"]).read()
provider = k8s.Provider("provider", kubeconfig=kubeconfig)
opts = pulumi.ResourceOptions(provider=provider)
namespace = k8s.core.v1.Namespace("namespace", metadata={{"name": {namespace!r}}}, opts=opts)
"""
DAEMON_SET = """
plugin = k8s.apps.v1.DaemonSet(
    "plugin",
    metadata={{"name": "nvidia-device-plugin-daemonset", "namespace": namespace.metadata.name}},
    spec={{
        "selector": {{"match_labels": {{"name": {label!r}}}}},
        "update_strategy": {{"type": "RollingUpdate"}},
        "template": {{
            "metadata": {{
                "annotations": {{"scheduler.alpha.kubernetes.io/critical-pod": ""}},
                "labels": {{"name": {label!r}}},
            }},
            "spec": {{
                "tolerations": [
                    {{"key": "CriticalAddonsOnly", "operator": "Exists"}},
                    {{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}},
                ],
                "containers": [
                    {{
                        "name": "nvidia-device-plugin-ctr",
                        "image": {image!r},
                        "security_context": {{
                            "allow_privilege_escalation": False,
                            "capabilities": {{"drop": ["ALL"]}},
                        }},
                        "resources": {{"requests": {{"cpu": "100m", "memory": "1024Mi"}}}},
                        "volume_mounts": [
                            {{
                                "name": "device-plugin",
                                "mount_path": "/var/lib/kubelet/device-plugins",
                            }}
                        ],
                    }}
                ],
                "volumes": [
                    {{
                        "name": "device-plugin",
                        "host_path": {{"path": "/var/lib/kubelet/device-plugins"}},
                    }}
                ],
            }},
        }},
    }},
    opts=opts,
)
"""
JOB = """
job = k8s.batch.v1.Job(
    "job",
    metadata={{
        "name": "samples-tf-mnist-demo",
        "namespace": namespace.metadata.name,
        "labels": {{"app": "samples-tf-mnist-demo"}},
    }},
    spec={{
        "backoff_limit": 0,
        "template": {{
            "metadata": {{"labels": {{"app": "samples-tf-mnist-demo"}}}},
            "spec": {{
                "containers": [
                    {{
                        "name": "samples-tf-mnist-demo",
                        "image": {image!r},
                        "args": ["--max_steps", "500"],
                        "image_pull_policy": "IfNotPresent",
                        "resources": {{"limits": {{"nvidia.com/gpu": 1}}}},
                    }}
                ],
                "restart_policy": {restart!r},
            }},
        }},
    }},
    opts=opts,
)
pulumi.export("succeeded", job.status.succeeded)
"""


def with_plugin(
    namespace: str, image: str = "k8s-device-plugin:1.11", label: str = "nvidia-device-plugin-ds"
) -> str:
    return (PREAMBLE + DAEMON_SET).format(namespace=namespace, image=image, label=label)


def with_job(namespace: str, image: str, restart: str = "OnFailure") -> str:
    return (PREAMBLE + JOB).format(namespace=namespace, image=image, restart=restart)


def test_the_articles_objects_are_created_updated_and_deleted(kube: KubernetesBench) -> None:
    program = with_plugin("whole-life") + JOB.format(image="mnist:gpu", restart="OnFailure")
    kube.up(program)

    state = kube.resources()
    assert state["plugin"]["id"] == "whole-life/nvidia-device-plugin-daemonset"
    assert state["plugin"]["outputs"]["status"]["numberReady"] == 1
    assert kube.pulumi("stack", "output", "succeeded").strip() == "1"
    live = kube.plane.get("daemonset", "-n", "whole-life", "nvidia-device-plugin-daemonset")
    (container,) = live["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "k8s-device-plugin:1.11"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}

    # What the server filled in is no difference, neither before a refresh nor after it.
    assert kube.changes() == {}
    kube.pulumi("refresh", "--yes", "--skip-preview")
    assert kube.changes() == {}

    kube.pulumi("destroy", "--yes", "--skip-preview")
    assert kube.resources() == {}
    assert not kube.plane.has("namespace", "whole-life")


def test_an_imported_object_is_taken_over_by_its_program(kube: KubernetesBench) -> None:
    kube.up(with_plugin("imported"))
    urn = kube.resources()["plugin"]["urn"]
    kube.pulumi("state", "delete", urn, "--yes")
    output = kube.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert 'daemonsets.apps "nvidia-device-plugin-daemonset" already exists' in output

    provider = kube.resources()["namespace"]["provider"].rpartition("::")[0]
    kube.pulumi(
        "import", "kubernetes:apps/v1:DaemonSet", "plugin",
        "imported/nvidia-device-plugin-daemonset", "--provider", f"provider={provider}",
        "--yes", "--generate-code=false", "--protect=false", "--skip-preview",
    )  # fmt: skip

    # An import takes over all that the cluster has, with its defaults. The program says less.
    assert kube.changes() == {"plugin": "update"}
    kube.pulumi("up", "--yes", "--skip-preview")
    assert kube.changes() == {}


def test_an_object_that_does_not_become_ready_stays_in_the_state(kube: KubernetesBench) -> None:
    output = kube.up(with_job("failing", FAILING_IMAGE, restart="Never"), fails=True)

    assert "Resource 'samples-tf-mnist-demo' was created but failed to initialize" in output
    assert "[BackoffLimitExceeded] Job has reached the specified backoff limit" in output
    assert 'container "samples-tf-mnist-demo" completed with exit code 1' in output
    assert "Traceback" not in output
    job = kube.resources()["job"]
    first, *reasons = job["initErrors"]
    assert "failed to initialize" in first
    assert "[BackoffLimitExceeded] Job has reached the specified backoff limit" in reasons
    assert job["outputs"]["status"]["failed"] == 1

    # Another image is another job: the failed one goes.
    kube.up(with_job("failing", "mnist:gpu"))
    assert "initErrors" not in kube.resources()["job"]


ODD = """
k8s.apps.v1.DaemonSet(
    "hanging",
    metadata={{
        "namespace": namespace.metadata.name,
        "annotations": {{"pulumi.com/timeoutSeconds": "10"}},
    }},
    spec={{
        "selector": {{"match_labels": {{"name": "hanging"}}}},
        "template": {{
            "metadata": {{"labels": {{"name": "hanging"}}}},
            "spec": {{"containers": [{{"name": "c", "image": {hanging!r}}}]}},
        }},
    }},
    opts=opts,
)
k8s.apps.v1.Deployment(
    "unawaited",
    metadata={{
        "namespace": namespace.metadata.name,
        "annotations": {{"pulumi.com/skipAwait": "true"}},
    }},
    spec={{
        "selector": {{"match_labels": {{"name": "unawaited"}}}},
        "template": {{
            "metadata": {{"labels": {{"name": "unawaited"}}}},
            "spec": {{"containers": [{{"name": "c", "image": {hanging!r}}}]}},
        }},
    }},
    opts=opts,
)
k8s.apiextensions.CustomResource(
    "unknown", api_version="example.com/v1", kind="Thing", metadata={{"name": "t"}}, opts=opts
)
k8s.core.v1.ConfigMap("invalid", metadata={{"name": "Not A Name"}}, opts=opts)
k8s.core.v1.Secret(
    "secret",
    metadata={{"namespace": namespace.metadata.name}},
    string_data={{"password": "correct horse"}},
    opts=opts,
)
"""


def test_errors_have_the_real_providers_messages(kube: KubernetesBench) -> None:
    kube.write((PREAMBLE + ODD).format(namespace="odd", hanging=HANGING_IMAGE))
    output = kube.pulumi("up", "--yes", "--skip-preview", "--continue-on-error", fails=True)

    assert "timed out waiting for the condition" in output
    assert "[ImagePullBackOff] Back-off pulling image" in output
    assert 'no matches for kind "Thing" in version "example.com/v1"' in output
    assert 'ConfigMap "Not A Name" is invalid: metadata.name' in output
    assert "Traceback" not in output
    state = kube.resources()
    assert {"hanging", "unawaited", "secret"} <= state.keys()
    assert not {"unknown", "invalid"} & state.keys()
    # What is left nameless is named after its resource, and what is secret stays so.
    name = state["hanging"]["outputs"]["metadata"]["name"]
    assert name.startswith("hanging-")
    assert len(name) == len("hanging-") + 8
    assert "ciphertext" in state["secret"]["outputs"]["data"]


def test_an_unreachable_cluster_is_reported(
    kube: KubernetesBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PREAMBLE.format(namespace="unreachable")
    kube.up(program)
    # The same provider, as it says itself, whose cluster does not answer any more.
    same = program.replace("kubeconfig=kubeconfig", 'kubeconfig=kubeconfig, cluster_identifier="a"')
    kube.up(same)
    away = same.replace(".read()", '.read().replace("https://127.0.0.1:", "https://127.0.0.2:")')

    output = kube.up(away + '\nk8s.core.v1.ConfigMap("map", opts=opts)', fails=True)
    assert "configured Kubernetes cluster is unreachable: unable to load schema" in output
    assert "connection refused" in output
    assert "Traceback" not in output
    assert kube.changes() == {"map": "create"}
    assert "unreachable cluster" in kube.pulumi("refresh", "--yes", "--skip-preview", fails=True)
    output = kube.pulumi("destroy", "--yes", "--skip-preview", fails=True)
    assert "PULUMI_K8S_DELETE_UNREACHABLE" in output

    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    kube.pulumi("destroy", "--yes", "--skip-preview")
    assert kube.resources() == {}
    assert kube.plane.has("namespace", "unreachable")


def test_a_broken_kubeconfig_is_reported_without_its_content(kube: KubernetesBench) -> None:
    program = PREAMBLE.format(namespace="broken")
    output = kube.up(
        program.replace("kubeconfig=kubeconfig", r'kubeconfig="a: [hidden\nb: hidden"'), fails=True
    )

    assert "failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- yaml: line" in output
    assert "hidden" not in output


LATER = """
import os
import pulumi
import pulumi_kubernetes as k8s
from pulumi_azure_native import resources

group = resources.ResourceGroup("group", resource_group_name="later", location="eastus")
read = lambda _: open(os.environ["KUBECONFIG_FILE"]).read()
provider = k8s.Provider("provider", kubeconfig=group.id.apply(read))
k8s.core.v1.ConfigMap(
    "map",
    metadata={"name": "later", "namespace": "default"},
    data={"a": "b"},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""


def test_a_preview_works_before_the_cluster_exists(kube: KubernetesBench) -> None:
    kube.write(LATER)
    changes = kube.changes()
    assert {changes[name] for name in ("group", "provider", "map")} == {"create"}
    kube.pulumi("up", "--yes", "--skip-preview")
    assert kube.plane.get("configmap", "later")["data"] == {"a": "b"}
    assert kube.changes() == {}

    # As with the real plug-in, a kubeconfig is a secret if the program says so, and not otherwise.
    provider = next(
        resource
        for resource in kube.deployment()["resources"]
        if resource["urn"].endswith("::provider")
    )
    assert provider["inputs"]["kubeconfig"] == kube.plane.kubeconfig

    kube.up(LATER.replace('"b"', '"c"'))
    assert kube.plane.get("configmap", "later")["data"] == {"a": "c"}


def test_a_cancelled_wait_ends_at_once_and_loses_nothing(kube: KubernetesBench) -> None:
    kube.write(with_plugin("cancelled", image=HANGING_IMAGE))
    with kube.updating() as update:
        until(lambda: kube.plane.has("daemonset", "-n", "cancelled", PLUGIN), "it is made")
        update.send_signal(signal.SIGINT)
        output, _ = update.communicate(timeout=PATIENCE)

    # The real plug-in says no more of a DaemonSet.
    assert "timed out waiting for the condition" in output
    plugin = kube.resources()["plugin"]
    assert plugin["id"] == f"cancelled/{PLUGIN}"
    assert "timed out waiting for the condition" in plugin["initErrors"][0]
    kube.up(with_plugin("cancelled"))
    assert "initErrors" not in kube.resources()["plugin"]


def test_resources_of_the_real_plug_in_alone_are_refused(kube: KubernetesBench) -> None:
    kube.write(PREAMBLE.format(namespace="helm") + 'k8s.helm.v3.Release("r", chart="c", opts=opts)')
    output = kube.pulumi("preview", fails=True)
    assert "chart c of no repository: docs/rehearsal.md" in output

    kube.write(PREAMBLE.format(namespace="yaml") + 'k8s.yaml.ConfigGroup("g", yaml=["{}"])')
    output = kube.pulumi("preview", fails=True)
    assert "offline kubernetes does not support the function kubernetes:yaml:decode" in output
