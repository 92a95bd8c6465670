"""What kwok does with nodes and pods, as Stage objects: which state follows on which, and when."""

from typing import Any

import yaml

from catalogue import images
from catalogue.device_plugin import IMAGE as PLUGIN_IMAGE
from rehearsal.control_planes.containers import SANDBOX_READY

Json = dict[str, Any]

# In seconds at time scale 1.
NODE_BOOT = 2.0
PULL = 0.6
# The sample's image is some gigabytes.
PULL_OF_SAMPLE = 3.0
JOB = 4.0

# The part of an image's name that says what it is, whatever the registry and the version.
SAMPLE = images.SAMPLE_JOB.rpartition("/")[2].partition(":")[0]

# jq paths are kwok's way to look at an object.
_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_IS_SAMPLE = f'.spec.containers.[].image | select( test("{SAMPLE}") )'
_IS_PLUGIN = f'.spec.containers.[].image | select( test("{PLUGIN_IMAGE}") )'
_IS_PLAYED = f'.spec.containers.[].image | select( test("{SAMPLE}|{PLUGIN_IMAGE}") )'
_SANDBOX = f'.status.conditions.[] | select( .type == "{SANDBOX_READY}" )'
_STARTED = ".status.startTime"
_DELETED = ".metadata.deletionTimestamp"

_NODE_READY = """
{{ $now := Now }}
conditions:
- type: Ready
  status: "True"
  reason: KubeletReady
  message: kubelet is posting ready status
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
"""

_POD_ACCEPTED = """
{{ $now := Now }}
phase: Pending
startTime: {{ $now | Quote }}
conditions:
- type: Initialized
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
- type: Ready
  status: "False"
  reason: ContainersNotReady
  lastTransitionTime: {{ $now | Quote }}
- type: ContainersReady
  status: "False"
  reason: ContainersNotReady
  lastTransitionTime: {{ $now | Quote }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  started: false
  restartCount: 0
  state:
    waiting:
      reason: ContainerCreating
{{ end }}
"""

_POD_RUNNING = """
{{ $now := Now }}
phase: Running
conditions:
- type: Initialized
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
- type: Ready
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
- type: ContainersReady
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ range .spec.readinessGates }}
- type: {{ .conditionType | Quote }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
"""

# What a pod has before its containers run: addresses, and init containers that are over.
_POD_PLACED = """
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
{{ $hosts := NodeIPsWith .spec.nodeName }}
{{ with $hosts }}
hostIP: {{ index . 0 | Quote }}
hostIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ $ips := PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
{{ with $ips }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
"""  # noqa: E501

_SANDBOX_READY = f"""
{{{{ $now := Now }}}}
conditions:
- type: {SANDBOX_READY}
  status: "True"
  lastTransitionTime: {{{{ $now | Quote }}}}
"""

_POD_COMPLETED = """
{{ $now := Now }}
{{ $root := . }}
phase: Succeeded
conditions:
- type: Ready
  status: "False"
  reason: PodCompleted
  lastTransitionTime: {{ $now | Quote }}
- type: ContainersReady
  status: "False"
  reason: PodCompleted
  lastTransitionTime: {{ $now | Quote }}
containerStatuses:
{{ range $index, $item := .spec.containers }}
{{ $before := index $root.status.containerStatuses $index }}
- name: {{ $item.name | Quote }}
  image: {{ $item.image | Quote }}
  imageID: {{ $item.image | Quote }}
  ready: false
  started: false
  restartCount: {{ $before.restartCount }}
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $before.state.running.startedAt | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
"""


def written(time_scale: float) -> str:
    """The configuration of kwok for one cluster."""
    stages = [
        _stage(
            "node-ready",
            "Node",
            [_without(_DELETED), _not(_READY, "True")],
            {"statusTemplate": _NODE_READY, "event": _event("NodeReady", "Node is ready")},
            NODE_BOOT * time_scale,
        ),
        _stage(
            "pod-accepted",
            "Pod",
            [_without(_DELETED), _is(".status.phase", "Pending"), _without(_STARTED)],
            {"statusTemplate": _POD_ACCEPTED, "event": _event("Pulling", "Pulling image")},
        ),
        *(
            _stage(
                name,
                "Pod",
                [
                    _without(_DELETED),
                    _is(".status.phase", "Pending"),
                    _with(_STARTED),
                    *of_images,
                ],
                {
                    "statusTemplate": _POD_RUNNING + _POD_PLACED,
                    "event": _event("Started", "Started container"),
                },
                seconds * time_scale,
            )
            for name, of_images, seconds in (
                ("pod-running", [_without(_IS_PLAYED)], PULL),
                ("pod-running-sample", [_with(_IS_SAMPLE), _without(_IS_PLUGIN)], PULL_OF_SAMPLE),
            )
        ),
        # How a device plugin begins depends on its node, which a Stage does not see: the server
        # begins it, and until then nobody sees it run.
        _stage(
            "pod-placed",
            "Pod",
            [
                _without(_DELETED),
                _is(".status.phase", "Pending"),
                _with(_STARTED),
                _with(_IS_PLUGIN),
                _without(_SANDBOX),
            ],
            {
                "statusTemplate": _SANDBOX_READY + _POD_PLACED,
                "event": _event("Pulled", "Successfully pulled image"),
            },
            PULL * time_scale,
        ),
        # How the sample ends depends on its node too: the server ends it.
        _stage(
            "pod-completed",
            "Pod",
            [
                _without(_DELETED),
                _is(".status.phase", "Running"),
                _is(".metadata.ownerReferences.[].kind", "Job"),
                _without(_IS_PLAYED),
            ],
            {"statusTemplate": _POD_COMPLETED},
            JOB * time_scale,
        ),
        _stage("pod-deleted", "Pod", [_with(_DELETED)], {"delete": True}),
    ]
    return yaml.safe_dump_all(stages, sort_keys=False)


def _stage(
    name: str, kind: str, selector: list[Json], following: Json, seconds: float = 0.0
) -> Json:
    spec: Json = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": selector},
        "next": following,
    }
    if seconds:
        spec["delay"] = {"durationMilliseconds": round(seconds * 1000)}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }


def _event(reason: str, message: str) -> Json:
    return {"type": "Normal", "reason": reason, "message": message}


def _is(key: str, value: str) -> Json:
    return {"key": key, "operator": "In", "values": [value]}


def _not(key: str, value: str) -> Json:
    return {"key": key, "operator": "NotIn", "values": [value]}


def _with(key: str) -> Json:
    return {"key": key, "operator": "Exists"}


def _without(key: str) -> Json:
    return {"key": key, "operator": "DoesNotExist"}
