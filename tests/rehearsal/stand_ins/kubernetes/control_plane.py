"""A control plane of the tests' own, on loopback, with nodes that kwok plays."""

import base64
import datetime
import ipaddress
import json
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine import ensure_kubernetes

SECONDS = 60
# Pods with these images do not do what pods do.
HANGING_IMAGE = "example.com/hangs:1"
FAILING_IMAGE = "example.com/fails:1"


@dataclass
class ControlPlane:
    """What runs, by its kubeconfig; `kubectl` for what happens behind Pulumi's back."""

    folder: Path
    kubectl_path: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def kubeconfig(self) -> str:
        return (self.folder / "kubeconfig").read_text()

    def kubectl(self, *arguments: str, given: str = "") -> str:
        return subprocess.run(
            [self.kubectl_path, "--kubeconfig", self.folder / "kubeconfig", *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout

    def get(self, *arguments: str) -> Any:
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def has(self, *arguments: str) -> bool:
        return bool(self.kubectl("get", *arguments, "--ignore-not-found", "-o", "name"))

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGKILL)
            process.wait(SECONDS)


def start(folder: Path) -> ControlPlane:
    binaries = ensure_kubernetes()
    plane = ControlPlane(folder, binaries.kubectl)
    _write_certificates(folder)
    etcd, server = _free_port(), _free_port()
    _write_kubeconfig(folder, server)
    (folder / "stages.yaml").write_text(_stages())
    try:
        for program, *arguments in _commands(folder, etcd, server):
            with (folder / f"{program}.log").open("wb") as log:
                command = [str(binaries.folder / program), *arguments]
                plane.processes.append(subprocess.Popen(command, stdout=log, stderr=log))
            if program == "kube-apiserver":
                _wait_until_ready(folder, server, plane.processes[-1])
    except BaseException:
        plane.stop()
        raise
    return plane


def _commands(folder: Path, etcd: int, server: int) -> list[list[str]]:
    config = f"--kubeconfig={folder / 'kubeconfig'}"
    url = f"http://127.0.0.1:{etcd}"
    return [
        [
            "etcd",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            "--listen-peer-urls=http://127.0.0.1:0",
            "--unsafe-no-fsync",
        ],
        [
            "kube-apiserver",
            f"--etcd-servers={url}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--secure-port={server}",
            f"--tls-cert-file={folder / 'server.pem'}",
            f"--tls-private-key-file={folder / 'server.key'}",
            f"--client-ca-file={folder / 'ca.pem'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder / 'server.key'}",
            f"--service-account-signing-key-file={folder / 'server.key'}",
            "--authorization-mode=RBAC",
        ],
        [
            "kube-controller-manager",
            config,
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={folder / 'server.key'}",
            f"--root-ca-file={folder / 'ca.pem'}",
        ],
        ["kube-scheduler", config, "--leader-elect=false", "--secure-port=0"],
        [
            "kwok",
            config,
            f"--config={folder / 'stages.yaml'}",
            "--manage-all-nodes",
            # Without a lease a node is taken for lost after 40 seconds.
            "--node-lease-duration-seconds=40",
        ],
    ]


def _wait_until_ready(folder: Path, server: int, process: subprocess.Popen[bytes]) -> None:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "admin.pem", folder / "admin.key")
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"https://127.0.0.1:{server}/readyz", context=context).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError((folder / "kube-apiserver.log").read_text()[-2000:])


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def _write_certificates(folder: Path) -> None:
    authority = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    masters = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters")
    for name, subject in (
        ("ca", issuer),
        ("server", x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])),
        ("admin", x509.Name([masters, x509.NameAttribute(NameOID.COMMON_NAME, "admin")])),
    ):
        key = authority if name == "ca" else ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.UTC)
        names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(authority, hashes.SHA256())
        )
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )


def _write_kubeconfig(folder: Path, server: int) -> None:
    def data(name: str) -> str:
        return base64.b64encode((folder / name).read_bytes()).decode()

    cluster = {
        "server": f"https://127.0.0.1:{server}",
        "certificate-authority-data": data("ca.pem"),
    }
    user = {
        "client-certificate-data": data("admin.pem"),
        "client-key-data": data("admin.key"),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tests",
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "admin"}}],
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "admin", "user": user}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))


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


def add_node(plane: ControlPlane, name: str) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"accelerator": "nvidia"}},
    }
    plane.kubectl("apply", "-f", "-", given=json.dumps(node))
    plane.kubectl("wait", "--for=condition=Ready", f"node/{name}", f"--timeout={SECONDS}s")


def remove(plane: ControlPlane) -> None:
    plane.stop()
    shutil.rmtree(plane.folder / "etcd", ignore_errors=True)
