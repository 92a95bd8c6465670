"""kwok's Stage objects for nodes and pods: which state follows which, and when."""

from typing import Any

import yaml

from catalogue import images
from catalogue.device_plugin import IMAGE as PLUGIN_IMAGE
from rehearsal.control_planes.containers import SANDBOX_READY

Json = dict[str, Any]

# In seconds at time scale 1.
NODE_BOOT = 2.0
PULL = 0.6
# The sample's image has some gigabytes.
PULL_OF_SAMPLE = 3.0
JOB = 4.0

# The name of an image without registry and version.
SAMPLE = images.SAMPLE_JOB.rpartition("/")[2].partition(":")[0]
# Other samples of NVIDIA's are in the same repository.
VECTOR_ADD = images.VECTOR_ADD.rpartition("/")[2].partition("-cuda")[0]

# kwok reads objects by jq paths.
_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_PHASE = ".status.phase"
_IMAGE = ".spec.containers.[].image"
_IS_SAMPLE = f'{_IMAGE} | select( test("{SAMPLE}") )'
_IS_PLUGIN = f'{_IMAGE} | select( test("{PLUGIN_IMAGE}") )'
_IS_STARTED_LATER = f'{_IMAGE} | select( test("{SAMPLE}|{PLUGIN_IMAGE}") )'
_IS_ENDED_HERE = f'{_IMAGE} | select( test("{SAMPLE}|{VECTOR_ADD}|{PLUGIN_IMAGE}") )'
# Pods that wait for a driver or a container runtime, such as the GPU Operator's operands.
_IS_GATED = (
    '.spec | select( ( .runtimeClassName // "" | test("nvidia") ) or '
    '( [ .initContainers[]?.name ] | any( test("-validation$") ) ) ) | "gated"'
)
_SANDBOX = f'.status.conditions.[] | select( .type == "{SANDBOX_READY}" )'
# A pod that the node controller has marked unready because its node was: its containers run on.
_IS_LAPSED = (
    '.status | select( [ .conditions[]? | select( .type == "Ready" and .status == "False" ), '
    'select( .type == "ContainersReady" and .status == "True" ) ] | length == 2 ) | "lapsed"'
)
_STARTED = ".status.startTime"
_DELETED = ".metadata.deletionTimestamp"
_OWNER = ".metadata.ownerReferences.[].kind"
_ENDED_OR_NO_JOB = (
    'select( ( [ .metadata.ownerReferences[]?.kind ] | index( "Job" ) | not ) '
    'or ( .status.phase == "Succeeded" or .status.phase == "Failed" ) ) | "ended"'
)

_NODE_READY = """
{{ $now := Now | Quote }}
conditions:
- type: Ready
  status: "True"
  reason: KubeletReady
  message: kubelet is posting ready status
  lastHeartbeatTime: {{ $now }}
  lastTransitionTime: {{ $now }}
"""

_POD_ACCEPTED = """
{{ $now := Now | Quote }}
phase: Pending
startTime: {{ $now }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now }} }
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now }} }
- {type: ContainersReady, status: "False", reason: ContainersNotReady,
   lastTransitionTime: {{ $now }} }
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
{{ $now := Now | Quote }}
phase: Running
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now }} }
- {type: Ready, status: "True", lastTransitionTime: {{ $now }} }
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now }} }
{{ range .spec.readinessGates }}
- {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now }} }
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
      startedAt: {{ $now }}
{{ end }}
"""
# The status of a pod before its containers run: addresses, and completed init containers.
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
      startedAt: {{ $now }}
      finishedAt: {{ $now }}
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

_SANDBOX_READY = """
{{ $now := Now | Quote }}
conditions:
- {type: SANDBOX, status: "True", lastTransitionTime: {{ $now }} }
""".replace("SANDBOX", SANDBOX_READY)

_POD_READY_AGAIN = """
conditions:
- {type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }} }
"""

_POD_COMPLETED = """
{{ $now := Now | Quote }}
{{ $root := . }}
phase: Succeeded
conditions:
- {type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ $now }} }
- {type: ContainersReady, status: "False", reason: PodCompleted, lastTransitionTime: {{ $now }} }
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
      finishedAt: {{ $now }}
{{ end }}
"""


def configuration(time_scale: float) -> str:
    """Returns kwok's configuration for one cluster."""
    there = _key(_DELETED, "DoesNotExist")
    waiting = [there, _key(_PHASE, "In", "Pending")]
    accepted = [*waiting, _key(_STARTED, "Exists")]
    placed = {
        "statusTemplate": _SANDBOX_READY + _POD_PLACED,
        "event": _event("Pulled", "Successfully pulled image"),
    }
    ungated = _key(_IS_GATED, "DoesNotExist")
    run = {
        "statusTemplate": _POD_RUNNING + _POD_PLACED,
        "event": _event("Started", "Started container"),
    }
    stages = [
        _stage(
            "node-ready",
            [there, _key(_READY, "NotIn", "True")],
            {"statusTemplate": _NODE_READY, "event": _event("NodeReady", "Node is ready")},
            NODE_BOOT * time_scale,
            kind="Node",
        ),
        _stage(
            "pod-accepted",
            [*waiting, _key(_STARTED, "DoesNotExist")],
            {"statusTemplate": _POD_ACCEPTED, "event": _event("Pulling", "Pulling image")},
        ),
        _stage(
            "pod-running",
            [*accepted, ungated, _key(_IS_STARTED_LATER, "DoesNotExist")],
            run,
            PULL * time_scale,
        ),
        _stage(
            "pod-running-sample",
            [*accepted, ungated, _key(_IS_SAMPLE, "Exists"), _key(_IS_PLUGIN, "DoesNotExist")],
            run,
            PULL_OF_SAMPLE * time_scale,
        ),
        # The start of a device plugin depends on its node, which a Stage does not see: the server
        # starts it, and until then it does not show as running.
        _stage(
            "pod-placed",
            [*accepted, _key(_IS_PLUGIN, "Exists"), _key(_SANDBOX, "DoesNotExist")],
            placed,
            PULL * time_scale,
        ),
        _stage(
            "pod-placed-gated",
            [
                *accepted,
                _key(_IS_GATED, "Exists"),
                _key(_IS_PLUGIN, "DoesNotExist"),
                _key(_SANDBOX, "DoesNotExist"),
            ],
            placed,
            PULL * time_scale,
        ),
        # After the node, which takes NODE_BOOT.
        _stage(
            "pod-ready-again",
            [there, _key(_PHASE, "In", "Running"), _key(_IS_LAPSED, "Exists")],
            {"statusTemplate": _POD_READY_AGAIN},
            2 * NODE_BOOT * time_scale,
        ),
        # The end of a sample depends on its node too: the server ends it.
        _stage(
            "pod-completed",
            [
                there,
                _key(_PHASE, "In", "Running"),
                _key(_OWNER, "In", "Job"),
                _key(_IS_ENDED_HERE, "DoesNotExist"),
            ],
            {"statusTemplate": _POD_COMPLETED},
            JOB * time_scale,
        ),
        # The controller of jobs waits for the end of a deleted pod, which its kubelet reports.
        _stage(
            "pod-stopped",
            [
                _key(_DELETED, "Exists"),
                _key(_OWNER, "In", "Job"),
                _key(_PHASE, "NotIn", "Succeeded", "Failed"),
            ],
            {"statusTemplate": "phase: Failed"},
        ),
        _stage(
            "pod-deleted",
            [_key(_DELETED, "Exists"), _key(_ENDED_OR_NO_JOB, "Exists")],
            {"delete": True},
        ),
    ]
    return yaml.safe_dump_all(stages, sort_keys=False)


def _stage(
    name: str, selector: list[Json], following: Json, seconds: float = 0.0, *, kind: str = "Pod"
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


def _key(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
