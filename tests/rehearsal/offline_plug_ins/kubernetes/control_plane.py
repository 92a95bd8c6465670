"""The rehearsal's control plane by itself, with nodes and pods that do what the tests need."""

import asyncio
import json
import subprocess
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import yaml

from kube_client.client import Client
from kube_client.kubeconfig import choose, connect, read, written
from machine_setup import ensure_kubernetes
from rehearsal.control_planes import control_plane
from rehearsal.control_planes.processes import Processes, records
from tests.waiting import PATIENCE, TIMEOUT

# Pods with these images do not do what pods do.
HANGING_IMAGE = "example.com/hangs:1"
FAILING_IMAGE = "example.com/fails:1"


@dataclass(frozen=True)
class ControlPlane:
    """What runs, by its kubeconfig; `kubectl` for what happens behind Pulumi's back."""

    file: Path
    kubectl_path: Path

    @property
    def kubeconfig(self) -> str:
        return self.file.read_text()

    def kubectl(self, *arguments: str, given: str = "") -> str:
        return subprocess.run(
            [self.kubectl_path, "--kubeconfig", self.file, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        ).stdout

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def has(self, *arguments: str) -> bool:
        return bool(self.kubectl("get", *arguments, "--ignore-not-found", "-o", "name"))

    def add_node(self, name: str) -> None:
        labels = {"accelerator": "nvidia"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        self.kubectl("apply", "-f", "-", given=json.dumps(node))
        self.kubectl("wait", "--for=condition=Ready", f"node/{name}", TIMEOUT)


@contextmanager
def running(folder: Path) -> Iterator[ControlPlane]:
    """A control plane that is ready; its processes belong to a thread until the end."""
    binaries = ensure_kubernetes()
    place = control_plane.settle_in(folder, time_scale=1)
    # Nobody asks it here.
    control_plane.ask_about_tokens(place, "https://127.0.0.1", place.certificates.authority)
    (folder / "stages.yaml").write_text(_stages())
    files = place.certificates.files("user")
    names: dict[str, Any] = {"cluster": "tests", "user": "admin", "context": "tests"}
    file = folder / "kubeconfig"
    file.write_text(written(place.server, files, **names, embeds_files=True))
    ranges = "10.244.0.0/16", "10.0.0.0/24"
    plane = control_plane.ControlPlane(place, binaries.folder, *ranges, Processes(records(folder)))

    async def start() -> None:
        client = Client(await connect(choose(read(file))), pauses=())
        try:
            await plane.start(client)
        finally:
            await client.close()

    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def run(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    try:
        run(start())
        yield ControlPlane(file, binaries.kubectl)
    finally:
        run(plane.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


_READY_NODE = """
conditions:
- {type: Ready, status: "True", reason: KubeletReady, lastTransitionTime: {{ Now | Quote }}}
allocatable: {cpu: "6", memory: 50Gi, pods: "110", "nvidia.com/gpu": "1"}
capacity: {cpu: "6", memory: 50Gi, pods: "110", "nvidia.com/gpu": "1"}
"""

_POD = """
phase: PHASE
startTime: {{ Now | Quote }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "READY", reason: ContainersNotReady, message: "MESSAGE",
   lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: x, ready: READY,
   restartCount: 0, state: {STATE}}
{{ end }}
"""

_IMAGE = ".spec.containers.[].image"
_PHASE = ".status.phase"
_GONE = ".metadata.deletionTimestamp"


def _pod(phase: str, state: str, *, ready: str = "false", message: str = "") -> str:
    result = _POD.replace("PHASE", phase).replace("MESSAGE", message).replace("STATE", state)
    return result.replace('"READY"', f'"{ready.title()}"').replace("READY", ready)


def _stages() -> str:
    pending = [("In", _PHASE, "Pending"), ("DoesNotExist", _GONE, "")]
    odd = [HANGING_IMAGE, FAILING_IMAGE]
    ended = "terminated: {exitCode: CODE, reason: REASON, finishedAt: {{ Now | Quote }}}"
    pulling = "waiting: {reason: ImagePullBackOff, message: Back-off pulling image}"
    stages = [
        _stage("node-ready", "Node", [("DoesNotExist", ".status.allocatable", "")], _READY_NODE),
        _stage(
            "pod-running",
            "Pod",
            [*pending, ("NotIn", _IMAGE, odd)],
            _pod("Running", "running: {startedAt: {{ Now | Quote }}}", ready="true"),
        ),
        _stage(
            "pod-hanging",
            "Pod",
            [*pending, ("In", _IMAGE, HANGING_IMAGE), ("DoesNotExist", ".status.startTime", "")],
            _pod("Pending", pulling, message="containers with unready status: [c]"),
        ),
        _stage(
            "pod-failing",
            "Pod",
            [*pending, ("In", _IMAGE, FAILING_IMAGE)],
            _pod("Failed", ended.replace("CODE", "1").replace("REASON", "Error")),
        ),
        _stage(
            "pod-completed",
            "Pod",
            [
                ("In", _PHASE, "Running"),
                ("DoesNotExist", _GONE, ""),
                ("In", ".metadata.ownerReferences.[].kind", "Job"),
            ],
            _pod("Succeeded", ended.replace("CODE", "0").replace("REASON", "Completed")),
        ),
        _stage("pod-deleted", "Pod", [("Exists", _GONE, "")], None),
    ]
    return yaml.safe_dump_all(stages)


def _stage(
    name: str, kind: str, when: list[tuple[str, str, Any]], status: str | None
) -> dict[str, Any]:
    expressions = [
        {"operator": operator, "key": key}
        | ({"values": value if isinstance(value, list) else [value]} if value else {})
        for operator, key, value in when
    ]
    following: dict[str, Any] = {"delete": True} if status is None else {"statusTemplate": status}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": expressions},
            "next": following,
        },
    }
