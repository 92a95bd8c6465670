"""The page's data: what each node, GPU and pod is shown as, and what a whole server knows."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from rehearsal.arm import operations
from rehearsal.arm.aks.control_planes import FleetControlPlanes
from rehearsal.arm.dashboard import cells
from rehearsal.arm.dashboard.document import Knowledge
from rehearsal.arm.faults import FaultScript
from rehearsal.arm.offer_script import OfferScript
from rehearsal.arm.offers import Offers
from rehearsal.arm.request_log import MOST_BYTES, RECENT, RequestLog
from rehearsal.arm.state import Resource, Store
from rehearsal.control_planes import nodes
from rehearsal.control_planes.desired_state import DesiredCluster, DesiredPool, Era
from rehearsal.files import WatchedFile
from tests.rehearsal.arm.in_process import Arm
from tests.rehearsal.conftest import API_VERSION, new_cluster

Json = dict[str, Any]
T4, FOUR_A100, A100 = (
    f"Standard_{name}" for name in ("NC8as_T4_v3", "NC96ads_A100_v4", "NC24ads_A100_v4")
)
CLUSTER = DesiredCluster(
    uid="u", name="c", group="g", location="eastus", subscription="s", node_group="MC"
)


def node(size: str = T4, index: int = 0, ready: bool = True, **gpus: int | tuple[int, int]) -> Json:
    """A node whose plugin offers GPUs: so many of each resource, or so many and fewer usable."""
    pool = DesiredPool(id="p", name="gpu", vm_size=size, count=1, version="1.36.1")
    made = nodes.new_node(CLUSTER, pool, index, Era.TODAY, 1)
    for name, count in gpus.items():
        pair = count if isinstance(count, tuple) else (count, count)
        resource = f"nvidia.com/{name.replace('__', '.').replace('_', '-')}"
        for part, number in zip(("capacity", "allocatable"), pair, strict=True):
            made["status"][part][resource] = str(number)
    [condition] = [each for each in made["status"]["conditions"] if each["type"] == "Ready"]
    condition["status"] = "True" if ready else "False"
    return made


def pod(name: str, on: Json | None = None, phase: str = "Running", **more: Any) -> Json:
    limits = {"nvidia.com/gpu": str(more.pop("gpus", 1)), "cpu": "1"}
    return {
        "metadata": {"namespace": "default", "name": name, **more.pop("metadata", {})},
        "spec": {
            "containers": [{"resources": {"limits": more.pop("limits", limits)}}, {}],
            **({"nodeName": on["metadata"]["name"]} if on else {}),
        },
        "status": {"phase": phase, **more},
    }


def drawn(made: Json, *pods: Json, **pool: Any) -> list[tuple[str, str]]:
    size = made["metadata"]["labels"]["node.kubernetes.io/instance-type"]
    found = cells.node({"vmSize": size, **pool}, made, pods)["cells"]
    return [(each["kind"], each["state"]) for each in found]


def test_a_gpu_is_free_or_in_use_by_a_pod_of_its_node_that_has_not_ended() -> None:
    made, other = node(FOUR_A100, gpu=4), node(FOUR_A100, index=1)
    pods = [
        pod("two", made, gpus=2),
        pod("done", made, phase="Succeeded"),
        pod("elsewhere", other),
        pod("waits", None, phase="Pending"),
    ]
    assert drawn(made, *pods) == [("gpu", "in use")] * 2 + [("gpu", "free")] * 2
    [first, *_] = cells.node({"vmSize": FOUR_A100}, made, pods)["cells"]
    assert first["pod"] == "default/two"


def test_a_gpu_that_no_plugin_offers_yet_is_not_ready() -> None:
    assert drawn(node(FOUR_A100)) == [("gpu", "not ready")] * 4
    # A kubelet keeps what a plugin offered, at zero.
    assert drawn(node(FOUR_A100, gpu=0)) == [("gpu", "not ready")] * 4
    assert drawn(node("Standard_D4ds_v5")) == []


def test_a_node_without_a_device_plugin_says_so() -> None:
    """It had a green frame, `!` in its cells, and no reason."""

    def note(made: Json, size: str = T4) -> str:
        return str(cells.node({"vmSize": size}, made, [])["note"])

    assert note(node()) == note(node(gpu=0)) == "no device plugin offers its GPUs"
    for made in (node(gpu=1), node(ready=False), node(gpu=(1, 0))):
        assert not note(made)
    assert not note(node("Standard_D4ds_v5"), "Standard_D4ds_v5")


def test_gpus_of_a_node_that_is_not_ready_or_that_two_plugins_offer_are_not_ready() -> None:
    assert drawn(node(T4, ready=False, gpu=1)) == [("gpu", "not ready")]
    contested = node(FOUR_A100, gpu=(4, 0))
    assert drawn(contested) == [("gpu", "not ready")] * 4
    assert drawn(contested, pod("earlier", contested)) == [
        ("gpu", "in use"),
        *[("gpu", "not ready")] * 3,
    ]


def test_shares_and_slices_are_told_from_whole_gpus() -> None:
    assert drawn(node(T4, gpu=4)) == [("share", "free")] * 4
    assert drawn(node(FOUR_A100, gpu__shared=4)) == [("share", "free")] * 4
    single, mig = node(A100, gpu=7), {"gpuInstanceProfile": "MIG1g"}
    assert drawn(single, pod("one", single), **mig)[:2] == [("slice", "in use"), ("slice", "free")]
    assert drawn(node(A100, mig_3g__40gb=2), **mig) == [("slice", "free")] * 2
    # Without a strategy, a plugin offers the whole GPU, slices or not.
    assert drawn(node(A100, gpu=1), **mig) == [("gpu", "free")]


def test_a_size_that_no_table_has_is_shown_by_what_it_offers() -> None:
    assert drawn(node("Standard_NC999_v9", gpu=2)) == [("gpu", "free")] * 2


def test_the_state_of_a_node() -> None:
    made = node()
    assert cells.node({"vmSize": T4}, made, [])["state"] == "ready"
    made["spec"]["unschedulable"] = True
    assert cells.node({"vmSize": T4}, made, [])["state"] == "cordoned"
    made["metadata"]["annotations"][nodes.DELETING] = nodes.ALONE
    assert cells.node({"vmSize": T4}, made, [])["state"] == "leaving"
    assert cells.node({"vmSize": T4}, node(ready=False), [])["state"] == "not ready"


def test_a_node_shows_its_faults_and_nothing_that_is_well() -> None:
    made = node()
    found = nodes.new_condition("XIDErrors", "Scripted", "Xid 79", "now", holds=True)
    made["status"]["conditions"] += [found, nodes.new_condition("Other", "R", "fine", "now")]
    assert cells.node({"vmSize": T4}, made, [])["faults"] == ["XIDErrors: Xid 79"]


def test_a_pod_that_waits_has_the_schedulers_reason() -> None:
    unplaced = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}
    shown = cells.pod(pod("waits", phase="Pending", conditions=[unplaced]))
    assert shown["waits"]
    assert shown["reason"] == "0/1 nodes are available"
    assert shown["gpus"] == {"nvidia.com/gpu": 1}
    assert cells.pod(pod("new", phase="Pending"))["reason"] == ""


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, "Running"),
        ({"containerStatuses": [{"state": {"running": {}}}]}, "Running"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "Crash"}}}]}, "Crash"),
        ({"phase": "Failed", "reason": "UnexpectedAdmissionError"}, "UnexpectedAdmissionError"),
        ({"metadata": {"deletionTimestamp": "now"}}, "Terminating"),
    ],
)
def test_the_state_of_a_pod(status: Json, state: str) -> None:
    shown = cells.pod(pod("one", node(), **status))
    assert (shown["state"], shown["waits"], shown["reason"]) == (state, False, "")


class Planes(FleetControlPlanes):
    """Control planes with nodes and pods of a test's own."""

    there: list[Json]
    placed: list[Json]

    def nodes(self, _: Resource, pool: Resource) -> list[Json]:
        return [each for each in self.there if nodes.pool_of(each) == pool.name]

    def pods(self, _: Resource) -> list[Json]:
        return self.placed


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Knowledge]:
    store, log = Store(Path(":memory:")), RequestLog(tmp_path / "requests.jsonl")
    planes = Planes(store, lambda: Offers(Era.TODAY, OfferScript()), None)
    planes.there, planes.placed = [], []
    yield Knowledge(
        tmp_path,
        store,
        planes,
        FaultScript(tmp_path / "faults.json", lambda: None),
        WatchedFile(tmp_path / "offers.json", OfferScript, OfferScript()),
        log,
    )
    log.close()


@pytest.fixture
def arm(known: Knowledge) -> Arm:
    return Arm(store=known.store)


@pytest.fixture
def cluster(arm: Arm, known: Knowledge) -> Callable[..., str]:
    def make(*pools: Json, **properties: Any) -> str:
        name, system = arm.name(), {"name": "system", "mode": "System", "count": 1, "vmSize": A100}
        body = new_cluster(agentPoolProfiles=[system | {"vmSize": "Standard_D4ds_v5"}, *pools])
        body["properties"] |= properties
        made = arm.call("PUT", name, body, API_VERSION)
        assert made.status == 201, made.body
        assert isinstance(known.control_planes, Planes)
        return name

    return make


def test_an_empty_server_has_an_empty_document(known: Knowledge) -> None:
    assert known.document() == {
        "stacks": [],
        "clusters": [],
        "cost": 0,
        "operations": [],
        "stored": [],
        "scripts": [],
        "complaints": [],
        "requests": [],
    }


def test_a_cluster_has_its_pools_with_nodes_costs_and_pods(
    known: Knowledge, cluster: Callable[..., str]
) -> None:
    spot = {"scaleSetPriority": "Spot", "enableAutoScaling": True, "minCount": 0, "maxCount": 3}
    cluster({"name": "gpu", "mode": "User", "count": 2, "vmSize": T4, **spot})
    planes = known.control_planes
    assert isinstance(planes, Planes)
    planes.there = [node(T4, 0, gpu=1), node(T4, 1, gpu=1)]
    busy = pod("busy", planes.there[0])
    waits = pod("waits", phase="Pending", limits={})
    over = pod("over", planes.there[1], phase="Succeeded")
    planes.placed = [busy, waits, over, pod("plain", planes.there[1], limits={})]

    [shown] = known.document()["clusters"]
    assert (shown["group"], shown["provisioningState"]) == ("group", "Creating")
    system, gpu = shown["pools"]
    assert (system["nodes"], system["cost"], system["least"], system["most"]) == ([], 0, 1, 1)
    assert [each["cells"][0]["state"] for each in gpu["nodes"]] == ["in use", "free"]
    assert (gpu["isSpot"], gpu["least"], gpu["most"]) == (True, 0, 3)
    # Of each node 8 cores and a GPU, at a fifth of the price.
    assert gpu["cost"] == known.document()["cost"] == pytest.approx(2 * (8 * 0.05 + 1) * 0.2)
    # Those that neither wait nor have a GPU are not listed.
    assert [each["name"] for each in shown["pods"]] == ["default/busy", "default/waits"]


def test_operations_are_listed_until_they_end_and_the_document_ends_none(
    known: Knowledge, arm: Arm, cluster: Callable[..., str]
) -> None:
    name = cluster()
    [found] = known.document()["operations"]
    assert (found["kind"], found["isHeld"]) == ("cluster create", False)
    assert found["on"][0].endswith(name.rpartition("/")[2])
    assert "/subscriptions/" not in found["on"][0]
    # Its time is over: only a request ends it.
    assert known.document()["operations"] == [found]
    operations.hold(known.store, known.store.rows("SELECT id FROM operations")[0]["id"])
    assert known.document()["operations"][0]["isHeld"]
    operations.release_held(known.store)
    arm.call("GET", name, None, API_VERSION)
    assert known.document()["operations"] == []


def test_entries_of_scripts_are_shown_whatever_their_keys(known: Knowledge) -> None:
    faults = [
        {"method": "PUT", "times": 2, "operation": {"code": "X", "message": "m"}},
        {"path": "/a", "status": 500, "body": {"password": "fault-secret-value", "code": "C"}},
        {"node": "gpu", "condition": "XIDErrors", "message": "Xid 79"},
    ]
    offers: dict[str, list[Json]] = {
        "sizes": [{"size": T4, "location": "eastus", "is": "soldOut"}],
        "limits": [{"name": "cores", "limit": 20}],
    }
    (known.home / "faults.json").write_text(json.dumps(faults))
    (known.home / "offers.json").write_text(json.dumps(offers))
    shown = known.document()["scripts"]
    assert shown[0] == faults[0]
    assert shown[1] == {"path": "/a", "status": 500, "body": {"code": "C"}}
    assert shown[2:] == [faults[2], *(entry for entries in offers.values() for entry in entries)]
    known.faults.next_fault("PUT", "/")
    assert known.document()["scripts"][0]["times"] == 1


def test_what_is_wrong_with_a_script_is_told(known: Knowledge) -> None:
    for name in ("faults.json", "offers.json"):
        (known.home / name).write_text("{")
    document = known.document()
    assert document["scripts"] == []
    assert [text.split()[0] for text in document["complaints"]] == ["faults.json", "offers.json"]


def test_what_is_stored_is_told_with_its_owner(
    known: Knowledge, arm: Arm, cluster: Callable[..., str]
) -> None:
    pool = {"name": "gpu", "mode": "User", "count": 0, "vmSize": T4}
    name = cluster(
        pool | {"localDNSProfile": {"mode": "Preferred"}}, autoScalerProfile={"expander": "random"}
    ).rpartition("/")[2]
    vault = "providers/Microsoft.KeyVault/vaults/v"
    group = known.store.of_type("Microsoft.Resources/resourceGroups")[0].id
    body = {"location": "eastus", "properties": {}}
    arm.call("PUT", f"{group}/{vault}", body, "2023-07-01")
    stored = known.document()["stored"]
    assert f"localDNSProfile of pool gpu of cluster {name}" in stored
    assert "all of Microsoft.KeyVault/vaults" in stored


def test_stacks_are_those_of_the_rehearsals_own_backend(known: Knowledge) -> None:
    backend = known.home / "state" / ".pulumi"
    for file in ("dev.json", "dev.json.bak", "prod.json"):
        (backend / "stacks" / "aks-gpu").mkdir(parents=True, exist_ok=True)
        (backend / "stacks" / "aks-gpu" / file).write_text("{}")
    lock = backend / "locks" / "organization" / "aks-gpu" / "prod" / "1.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    stacks = {each["name"]: each["isUpdating"] for each in known.document()["stacks"]}
    assert stacks == {"dev": False, "prod": True}


def test_requests_are_listed_newest_first_without_their_bodies(known: Knowledge) -> None:
    paths = ("/subscriptions/s/resourceGroups/g", "/subscriptions/s", "/adfs/oauth2/token")
    for path in paths:
        known.log.write(make_mocked_request("GET", path), b"", 200)
    shown = known.document()["requests"]
    assert [each["path"] for each in shown] == [*reversed(["/resourceGroups/g", *paths[1:]])]
    assert {*shown[0]} == {"number", "time", "method", "path", "status"}


def test_the_log_keeps_its_last_lines_and_no_large_body(tmp_path: Path) -> None:
    """200 bodies of 4 MiB each would be 800 MiB. And polls pushed out what they waited for."""
    log = RequestLog(tmp_path / "requests.jsonl")
    large = json.dumps({"a": "b" * MOST_BYTES}).encode()
    as_json = {"Content-Type": "application/json"}
    put = make_mocked_request("PUT", "/a", headers=as_json)
    log.write(put, b'{"password": "secret-value", "a": 1}', 200)
    log.write(put, large, 200)
    for _ in range(RECENT + 1):
        log.write(make_mocked_request("GET", "/a"), b"", 200)
    log.close()
    *reads, second, first = log.recent
    assert len(reads) == RECENT
    assert [line["number"] for line in reads] == sorted(
        {line["number"] for line in reads}, reverse=True
    )
    assert first["body"] == {"a": 1}
    assert second["body"] == f"({len(large)} bytes, which are in requests.jsonl)"
    assert large[2:-2].decode() in (tmp_path / "requests.jsonl").read_text()
