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
    image: str = "k8s-device-plugin:1.11", label: str = "nvidia-device-plugin-ds"
) -> str:
    return (PREAMBLE + DAEMON_SET).format(namespace="whole-life", image=image, label=label)


def with_both(image: str = "mnist:gpu", restart: str = "OnFailure") -> str:
    return with_plugin() + JOB.format(image=image, restart=restart)


def test_the_articles_objects_from_a_cancelled_update_to_their_deletion(
    kube: KubernetesBench,
) -> None:
    # A cancelled wait ends at once, and loses nothing.
    kube.write(with_plugin(HANGING_IMAGE, label="hanging"))
    with kube.updating() as update:
        until(lambda: kube.plane.has("daemonset", "-n", "whole-life", PLUGIN), "it is made")
        update.send_signal(signal.SIGINT)
        output, _ = update.communicate(timeout=PATIENCE)
    # The real plug-in says no more of a DaemonSet.
    assert "timed out waiting for the condition" in output
    plugin = kube.resources()["plugin"]
    assert plugin["id"] == f"whole-life/{PLUGIN}"
    assert "timed out waiting for the condition" in plugin["initErrors"][0]

    kube.up(with_both())
    state = kube.resources()
    assert "initErrors" not in state["plugin"]
    assert state["plugin"]["outputs"]["status"]["numberReady"] == 1
    assert kube.pulumi("stack", "output", "succeeded").strip() == "1"
    live = kube.plane.get("daemonset", "-n", "whole-life", PLUGIN)
    (container,) = live["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "k8s-device-plugin:1.11"
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}

    # What the server filled in is no difference.
    kube.pulumi("refresh", "--yes", "--skip-preview")
    assert kube.changes() == {}

    kube.pulumi("state", "delete", state["plugin"]["urn"], "--yes")
    output = kube.pulumi("up", "--yes", "--skip-preview", fails=True)
    assert f'daemonsets.apps "{PLUGIN}" already exists' in output
    provider = state["namespace"]["provider"].rpartition("::")[0]
    kube.pulumi(
        "import", "kubernetes:apps/v1:DaemonSet", "plugin", f"whole-life/{PLUGIN}",
        "--provider", f"provider={provider}",
        "--yes", "--generate-code=false", "--protect=false", "--skip-preview",
    )  # fmt: skip
    # An import takes over all that the cluster has, with its defaults. The program says less.
    assert kube.update() == {"plugin": "update"}

    # What does not become ready stays in the state. Another image is another job.
    output = kube.up(with_both(FAILING_IMAGE, restart="Never"), fails=True)
    assert "Resource 'samples-tf-mnist-demo' was created but failed to initialize" in output
    assert "[BackoffLimitExceeded] Job has reached the specified backoff limit" in output
    assert 'container "samples-tf-mnist-demo" completed with exit code 1' in output
    assert "Traceback" not in output
    job = kube.resources()["job"]
    first, *reasons = job["initErrors"]
    assert "failed to initialize" in first
    assert "[BackoffLimitExceeded] Job has reached the specified backoff limit" in reasons
    assert job["outputs"]["status"]["failed"] == 1
    # The failed one goes; an imported object is as its program says.
    kube.write(with_both())
    assert kube.update() == {"job": "replace"}
    assert "initErrors" not in kube.resources()["job"]

    kube.pulumi("destroy", "--yes", "--skip-preview")
    assert kube.resources() == {}
    assert not kube.plane.has("namespace", "whole-life")


ISOLATION = """
from components import GpuIsolation, GpuIsolationArgs

GpuIsolation(
    "isolation",
    GpuIsolationArgs(violations={violations!r}),
    pulumi.ResourceOptions(providers=[provider]),
)
"""


@pytest.mark.nightly
def test_isolation_goes_from_warnings_to_refusals_and_back(kube: KubernetesBench) -> None:
    """The page advises to begin with warnings, and the preview of the change to refusals failed:
    the API server united the actions of a binding, which do not go together.
    """

    def asked(violations: str) -> None:
        program = PREAMBLE.format(namespace="isolated")
        kube.write(program + ISOLATION.format(violations=violations))

    bindings = {"isolation-pods", "isolation-variables"}
    asked("warn")
    kube.pulumi("up", "--yes", "--skip-preview")
    for violations, actions in (("deny", ["Deny"]), ("warn", ["Warn", "Audit"])):
        asked(violations)
        assert kube.changes() == dict.fromkeys(bindings, "replace")
        kube.pulumi("up", "--yes")
        live = kube.plane.get("validatingadmissionpolicybindings")["items"]
        assert [each["spec"]["validationActions"] for each in live] == [actions] * 2
        assert kube.changes() == {}
    kube.pulumi("destroy", "--yes", "--skip-preview")


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
    preamble = PREAMBLE.format(namespace="odd")
    # A broken kubeconfig is told without its content.
    broken = r'kubeconfig="a: [hidden\nb: hidden"'
    output = kube.up(preamble.replace("kubeconfig=kubeconfig", broken), fails=True)
    assert "failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- yaml: line" in output
    assert "hidden" not in output

    kube.write(preamble + ODD.format(hanging=HANGING_IMAGE))
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

    # What the real plug-in alone has is refused.
    kube.write(preamble + 'k8s.helm.v3.Release("r", chart="c", opts=opts)')
    assert "chart c of no repository: docs/rehearsal.md" in kube.pulumi("preview", fails=True)
    kube.write(preamble + 'k8s.yaml.ConfigGroup("g", yaml=["{}"])')
    output = kube.pulumi("preview", fails=True)
    assert "offline kubernetes does not support the function kubernetes:yaml:decode" in output


LATER = """
import os
import pulumi
import pulumi_kubernetes as k8s
from pulumi_azure_native import resources

group = resources.ResourceGroup("group", resource_group_name="later", location="eastus")
read = lambda _: open(os.environ["KUBECONFIG_FILE"]).read()
provider = k8s.Provider("provider", kubeconfig=group.id.apply(read), cluster_identifier="a")
for name in {names!r}:
    k8s.core.v1.ConfigMap(
        name,
        metadata={{"name": name, "namespace": "default"}},
        data={{"a": {value!r}}},
        opts=pulumi.ResourceOptions(provider=provider),
    )
"""


@pytest.mark.nightly
def test_a_cluster_that_is_not_there_yet_or_no_more(
    kube: KubernetesBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    kube.write(LATER.format(names=["later"], value="b"))
    changes = kube.changes()
    assert {changes[name] for name in ("group", "provider", "later")} == {"create"}
    kube.pulumi("up", "--yes", "--skip-preview")
    assert kube.plane.get("configmap", "later")["data"] == {"a": "b"}
    # As with the real plug-in, a kubeconfig is a secret if the program says so, and not otherwise.
    resources = kube.deployment()["resources"]
    [provider] = [each for each in resources if each["urn"].endswith("::provider")]
    assert provider["inputs"]["kubeconfig"] == kube.plane.kubeconfig
    kube.write(LATER.format(names=["later"], value="c"))
    assert kube.update() == {"later": "replace"}
    assert kube.plane.get("configmap", "later")["data"] == {"a": "c"}

    # The same provider, as it says itself, whose cluster does not answer any more.
    away = LATER.format(names=["later", "more"], value="c")
    away = away.replace(".read()", '.read().replace("https://127.0.0.1:", "https://127.0.0.2:")')
    output = kube.up(away, fails=True)
    assert "configured Kubernetes cluster is unreachable: unable to load schema" in output
    assert "connection refused" in output
    assert "Traceback" not in output
    assert kube.changes() == {"more": "create"}
    assert "unreachable cluster" in kube.pulumi("refresh", "--yes", "--skip-preview", fails=True)
    output = kube.pulumi("destroy", "--yes", "--skip-preview", fails=True)
    assert "PULUMI_K8S_DELETE_UNREACHABLE" in output

    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    kube.pulumi("destroy", "--yes", "--skip-preview")
    assert kube.resources() == {}
    assert kube.plane.has("configmap", "later")
