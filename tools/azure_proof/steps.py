"""The steps of the proof: what each does, and what is expected of it."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_catalogue import rotation
from aks_catalogue.shapes import at
from aksgpu.outcome import Cause, StoppedError
from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.running import Ended, Program
from azure_proof.azure import Arm
from azure_proof.choice import Choice
from azure_proof.stack import POOL, STACK, ProofStack, dev_settings
from components import NvidiaDevicePluginArgs
from rehearsal.files import write_whole

TAG = "aks-gpu-azure-proof"
HOLDER = "holds-a-node"
_IMAGE = "/spec/template/spec/containers/0/image"
# Any image that runs until its pod is deleted.
_PAUSE = "mcr.microsoft.com/oss/kubernetes/pause:3.6"
_READ_SECONDS = 120.0
# A job with the image of the sample has to pull some gigabytes on a node that is new.
_CHECK_SECONDS = 1800
# What azure-native sends of a pool, by its names on the wire.
_SENT = (
    *("enableAutoScaling", "maxCount", "minCount", "mode", "nodeLabels", "nodeTaints"),
    *("orchestratorVersion", "osSKU", "osType", "tags", "type", "upgradeSettings", "vmSize"),
)
_CLUSTERS = "/providers/Microsoft.ContainerService/managedClusters"
NOTHING, GONE = "nothing to change", "no resource group"
# The most nodes of a pool.
MOST = 1000
MIG_SIZE = "Standard_NC24ads_A100_v4"


@dataclass(frozen=True)
class Outcome:
    expected: str
    actual: str


@dataclass
class Proof:
    """The stack in the middle of its life, and what the steps do with it."""

    choice: Choice
    # Of the resource group and the cluster.
    name: str
    # When everything is removed, as the tag says it.
    deadline: str
    arm: Arm
    stack: ProofStack
    kubectl: Path
    # What was refused, in the words of it.
    refusals: list[str] = field(default_factory=list)

    def settings(self, *others: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
        """The settings of dev with its own names, changes of its pool, and other pools."""
        dev = dev_settings()
        pool = {**dev["gpuPools"][0], "vmSize": self.choice.size, **changes}
        return {
            **dev,
            "location": self.choice.location,
            "tags": {TAG: self.deadline},
            "resourceGroup": {"name": self.name},
            "cluster": {**dev["cluster"], "name": self.name},
            "gpuPools": [pool, *({"vmSize": self.choice.size, **other} for other in others)],
        }

    def up(self, *others: Mapping[str, Any], **changes: Any) -> None:
        """Raises StoppedError if the update fails."""
        self.stack.up(self.settings(*others, **changes))

    def path(self, pool: str = "") -> str:
        cluster = f"/resourceGroups/{self.name}{_CLUSTERS}/{self.name}"
        return f"{cluster}/agentPools/{pool}" if pool else cluster

    def pool(self, name: str = POOL) -> Mapping[str, Any]:
        """The properties of a pool, once AKS has ended its operation."""
        found: Mapping[str, Any] = (self.arm.settled(self.path(name)) or {}).get("properties", {})
        return found

    def pools(self) -> list[Mapping[str, Any]]:
        cluster = self.arm.settled(self.path())
        profiles: list[Mapping[str, Any]] = cluster["properties"]["agentPoolProfiles"]
        return profiles

    def changes(self) -> str:
        """What a preview would change, in words."""
        changes = self.stack.changes()
        return ", ".join(f"{number} to {what}" for what, number in changes.items()) or NOTHING

    def check(self, *options: str) -> str:
        """The cause that `aksgpu check` names."""
        command = (Path(sys.executable).with_name("aksgpu"), "check", "--stack", STACK, "--json")
        program = Program(command, self.stack.folder, self.stack.pulumi.environment)
        ended = program.attempt(*options, "--timeout", str(_CHECK_SECONDS))
        return str(json.loads(ended.out)["cause"])

    def on_cluster(self, *arguments: str) -> Ended:
        """Runs kubectl on the cluster."""
        file = self.stack.folder / "kubeconfig"
        write_whole(file, self.stack.kubeconfig().encode(), 0o600)
        kubectl = Program(
            (self.kubectl, "--kubeconfig", file, "--cache-dir", file.with_name("kubectl-cache")),
            self.stack.folder,
            self.stack.pulumi.environment,
        )
        try:
            return kubectl.attempt(*arguments, seconds=_READ_SECONDS)
        finally:
            file.unlink()


def contract(proof: Proof) -> Outcome:
    module = ["pytest", "-q", "tests/contract"] if proof.arm.is_rehearsal else ["tests.contract"]
    ended = Program((sys.executable, "-m", *module), PROGRAM).attempt()
    (proof.stack.home / "contract.log").write_bytes(ended.printed)
    return Outcome("exit code 0", f"exit code {ended.code}")


def bring_up(proof: Proof) -> Outcome:
    proof.stack.up(proof.settings(), policy_packs=[str(PROGRAM / "policies")])
    pools = ", ".join(sorted(str(pool["name"]) for pool in proof.pools()))
    return Outcome("a cluster with the pools gpu, system", f"a cluster with the pools {pools}")


def preview(proof: Proof) -> Outcome:
    return Outcome(NOTHING, proof.changes())


def refresh(proof: Proof) -> Outcome:
    proof.stack.run("refresh")
    return Outcome(NOTHING, proof.changes())


def job(proof: Proof) -> Outcome:
    settings = {**proof.settings(), "sampleJob": {"enabled": True}}
    proof.stack.up(settings)
    return Outcome(Cause.GPUS_SCHEDULABLE.word, proof.check("--job"))


def taken_out(proof: Proof) -> Outcome:
    added = proof.settings(labels={"proof": "label"}, taints=["proof=taint:NoSchedule"])
    proof.stack.up({**added, "tags": {**added["tags"], "proof": "tag"}})
    before = _of_the_proof(proof.pool())
    proof.up()
    return Outcome("label tag taint, then none", f"{before}, then {_of_the_proof(proof.pool())}")


def _of_the_proof(pool: Mapping[str, Any]) -> str:
    """Which of the label, the tag and the taint a pool has."""
    there = {
        "label": "proof" in (pool.get("nodeLabels") or {}),
        "tag": "proof" in (pool.get("tags") or {}),
        "taint": "proof=taint:NoSchedule" in (pool.get("nodeTaints") or ()),
    }
    return " ".join(name for name, is_there in there.items() if is_there) or "none"


def scaled(proof: Proof) -> Outcome:
    with _one_node(proof):
        proof.up(labels={"proof": "scaled"})
        count = proof.pool().get("count")
        # As long as the pod keeps its node: afterwards AKS scales the pool down, and an update at
        # that moment would be refused, as it should be.
        proof.up()
    return Outcome("1 node, as AKS has scaled it", f"{count} node, as AKS has scaled it")


@contextmanager
def _one_node(proof: Proof) -> Iterator[None]:
    """A pod has made AKS scale the pool, and keeps its node."""
    _hold_a_node(proof)
    try:
        proof.arm.until(lambda: proof.pool().get("count") == 1, "AKS did not scale the pool up")
        yield
    finally:
        proof.on_cluster("delete", "pod", HOLDER, "--ignore-not-found", "--wait=false")


def _hold_a_node(proof: Proof) -> None:
    outputs = proof.stack.pulumi.read_json("stack", "output", "gpuPools", "--json")
    snippet = outputs[POOL]["pod"]
    (container,) = snippet["spec"]["containers"]
    container = {**container, "image": _PAUSE}
    container.pop("command", None)
    container.pop("args", None)
    pod = {**snippet, "metadata": {"name": HOLDER}}
    pod["spec"] = {**snippet["spec"], "containers": [container], "restartPolicy": "Never"}
    file = proof.stack.folder / "pod.json"
    file.write_text(json.dumps(pod), encoding="utf-8")
    proof.on_cluster("apply", "-f", str(file)).succeeded()


def header(proof: Proof) -> Outcome:
    other = {"name": "header", "count": 0, "minCount": 0, "maxCount": 1}
    try:
        proof.up({**other, "customHeaders": {"x-aks-gpu-proof": "1"}})
        state = proof.pool("header").get("provisioningState")
    finally:
        # The pod of a later step could get a node of this pool, and wait there for ever: an update
        # that removes a pool takes its device plugin away first.
        proof.up()
    return Outcome("the pool is Succeeded", f"the pool is {state}")


def without_count(proof: Proof) -> Outcome:
    with _one_node(proof):
        proof.arm.call("PUT", proof.path(POOL), {"properties": _as_sent(proof.pool())})
        after = proof.pool().get("count")
    return Outcome("1 node, as before", f"{after} node, as before")


def driver(proof: Proof) -> Outcome:
    before = proof.pool()
    body = {**_as_sent(before), "count": before.get("count"), "gpuProfile": {"driver": "None"}}
    status, answer = proof.arm.call("PUT", proof.path(POOL), {"properties": body})
    proof.pool()
    return Outcome("400 PropertyChangeNotAllowed", f"{status} {_code(answer)}")


def _code(answer: Any) -> str:
    """The code of an error; empty if the answer is none."""
    return str(at(answer, "error.code") or at(answer, "code") or "")


def _as_sent(pool: Mapping[str, Any]) -> dict[str, Any]:
    return {name: pool[name] for name in _SENT if pool.get(name) is not None}


def plugin(proof: Proof) -> Outcome:
    proof.up()
    here = ("--namespace", str(NvidiaDevicePluginArgs.namespace))
    command = ("get", "daemonsets", *here, "--output", "json")
    before = proof.on_cluster(*command).json()["items"]
    patch = [{"op": "replace", "path": _IMAGE, "value": _PAUSE}]
    named = (*here, "daemonset", before[0]["metadata"]["name"])
    proof.on_cluster("patch", *named, "--type=json", "--patch", json.dumps(patch)).succeeded()
    proof.stack.up(proof.settings(), refresh=True)
    after = proof.on_cluster(*command).json()["items"]
    is_back = [each["spec"] for each in after] == [each["spec"] for each in before]
    return Outcome("as the program has it", "as the program has it" if is_back else "changed")


def failed_create(proof: Proof) -> Outcome:
    if proof.choice.too_many > MOST:
        return Outcome(*["left out: the quota has room for every pool"] * 2)
    answer = "accepted"
    try:
        proof.up({"name": "toomany", "count": proof.choice.too_many})
    except StoppedError as error:
        answer = "refused"
        proof.refusals.append(str(error))
    proof.up()
    return Outcome(f"refused, repaired, {NOTHING}", f"{answer}, repaired, {proof.changes()}")


def rotated(proof: Proof) -> Outcome:
    proof.up(replacement="rotate", osDiskSizeGb=128)
    before = _rotating(proof)
    proof.up(replacement="rotate", osDiskSizeGb=160)
    after = _rotating(proof)
    is_new = len(after) == 1 and after != before
    actual = "one pool, another than before" if is_new else f"{', '.join(after) or 'no pool'}"
    return Outcome("one pool, another than before", actual)


def _rotating(proof: Proof) -> list[str]:
    """The names in Azure of the pool that rotates."""
    return [
        str(pool["name"])
        for pool in proof.pools()
        if (pool.get("nodeLabels") or {}).get(rotation.LABEL) == POOL
    ]


def mig(proof: Proof) -> Outcome:
    return _another(proof, {"name": "mig", "vmSize": MIG_SIZE, "migProfile": "MIG1g"})


def spot(proof: Proof) -> Outcome:
    return _another(proof, {"name": "spot", "spot": True})


def managed(proof: Proof) -> Outcome:
    pool = {"name": "managed", "gpuStack": "managed"}
    return _another(proof, pool, managedGpuFeature="register")


def _another(proof: Proof, pool: Mapping[str, Any], **settings: Any) -> Outcome:
    proof.stack.up({**proof.settings({**pool, "count": 1}), **settings})
    return Outcome(Cause.GPUS_SCHEDULABLE.word, proof.check())


def destroyed(proof: Proof) -> Outcome:
    proof.stack.run("destroy")
    is_there = proof.arm.group(proof.name) is not None
    return Outcome(GONE, "the resource group is there" if is_there else GONE)


@dataclass(frozen=True)
class Step:
    name: str
    title: str
    do: Callable[[Proof], Outcome]
    # Only if it is asked for: its nodes cost more.
    is_extra: bool = False


# Without this one, no other can be done.
NEEDED = "up"
STEPS = (
    Step("contract", "the plug-ins do what the contract says", contract),
    Step(NEEDED, "pulumi up of dev", bring_up),
    Step("preview", "a preview after it", preview),
    Step("refresh", "a refresh, and a preview after it", refresh),
    # As long as the pool has no nodes, its count does not depend on when one looks.
    Step("taken-out", "a label, a taint and a tag are taken out", taken_out),
    Step("driver", "a PUT with another GPU driver", driver),
    Step("header", "a pool with a custom header", header),
    Step("job", "the sample job, and check", job),
    Step("scaled", "a label changes on a pool that AKS has scaled", scaled),
    Step("without-count", "a PUT without count for an autoscaled pool", without_count),
    Step("plugin", "the device plugin, changed by kubectl, is restored", plugin),
    Step("failed-create", "a pool without quota fails, and is repaired", failed_create),
    Step("mig", "a pool with MIG", mig, is_extra=True),
    Step("spot", "a spot pool", spot, is_extra=True),
    Step("managed", "a pool whose GPU stack AKS manages", managed, is_extra=True),
    Step("rotated", "a pool rotates", rotated),
    Step("destroyed", "pulumi destroy", destroyed),
)
EXTRA = tuple(step.name for step in STEPS if step.is_extra)
