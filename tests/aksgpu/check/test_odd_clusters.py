"""Clusters that answer oddly, or not: a verdict that names what could not be read, no traceback."""

import asyncio
import io
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from rich.console import Console

from aksgpu.check import api, report
from aksgpu.check.examination import CheckOptions, Examination, examine
from aksgpu.check.expected import Expected, expected
from aksgpu.check.target import Target
from kube_client.client import Client
from machine_setup.progress import Progress

NODES, PODS, SETS = "/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/daemonsets"
NAMES = {NODES: "nodes", PODS: "pods", SETS: "DaemonSets"}
PLUGIN: Mapping[str, Any] = {
    "name": "ctr",
    "image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.0",
}
SPEC = {
    "containers": [PLUGIN],
    "nodeName": "n0",
    "tolerations": [{"operator": "Exists"}],
}
GOOD: Mapping[str, Any] = {
    NODES: {
        "metadata": {
            "name": "n0",
            "labels": {"kubernetes.azure.com/agentpool": "gpu"},
            "annotations": {"a": "b"},
        },
        "spec": {"taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"nvidia.com/gpu": "2", "cpu": "4"},
            "allocatable": {"nvidia.com/gpu": "2"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    },
    PODS: {
        "metadata": {"name": "p0", "namespace": "ns"},
        "spec": SPEC,
        "status": {
            "phase": "Running",
            "conditions": [{"type": "PodScheduled", "status": "True"}],
            "containerStatuses": [
                {"name": "ctr", "state": {"running": {"startedAt": "2026-11-23T04:30:00Z"}}}
            ],
        },
    },
    SETS: {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"template": {"spec": SPEC}}},
}
STACK = Expected(
    pools=expected([], {"gpuPools": {"gpu": {}}}, "restore").pools, restoring_command="restore"
)

# What an answer is made of: a body, or what the server does in its place.
Answer = Callable[[web.Request], web.StreamResponse]


def _listed(*items: Any) -> Answer:
    return _body({"items": list(items), "metadata": {}})


def _body(content: Any) -> Answer:
    return lambda _: web.json_response(content)


def _refusal(status: int) -> Answer:
    return lambda _: web.json_response({"message": f"said {status}"}, status=status)


def _closed(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def _page(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>Sign in to the proxy</html>")


ALL_GOOD: Mapping[str, Answer] = {path: _listed(item) for path, item in GOOD.items()}


def checked(answers: Mapping[str, Answer], **options: Any) -> tuple[dict[str, Any], str]:
    """What the check says of a cluster that answers so: its JSON document, and its text."""
    examination = Examination()

    async def handle(request: web.Request) -> web.StreamResponse:
        return answers.get(request.path, _refusal(404))(request)

    async def look() -> None:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", handle)
        async with TestServer(application) as server:
            config = {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": str(server.make_url(""))}}],
                "users": [{"name": "u", "user": {}}],
            }
            target = Target(title="A cluster", kubeconfig=config, expected=STACK)
            await _examine(examination, target, **options)

    asyncio.run(look())
    return _told(examination)


async def _examine(examination: Examination, target: Target, **options: Any) -> None:
    check_options = CheckOptions(**{"settle": 0.0, **options})
    with Progress("Looking", lambda _: None) as progress:
        await examine(examination, target, check_options, progress)


def _told(examination: Examination) -> tuple[dict[str, Any], str]:
    printed = io.StringIO()
    report.print_tables(examination, Console(file=printed, width=500))
    document: dict[str, Any] = json.loads(json.dumps(report.document(examination)))
    return document, printed.getvalue()


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "Client", partial(Client, pauses=(0.0, 0.0)))


def test_a_healthy_cluster_is_schedulable() -> None:
    document, printed = checked(ALL_GOOD)
    assert document["cause"] == "gpus-schedulable"
    assert document["nodes"][0]["pluginImages"] == [PLUGIN["image"]]
    assert PLUGIN["image"] in printed


@pytest.mark.parametrize("path", list(GOOD))
@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (_refusal(403), "credentials-refused"),
        (_refusal(401), "credentials-refused"),
        (_refusal(404), "cluster-unreachable"),
        (_refusal(429), "cluster-unreachable"),
        (_refusal(500), "cluster-unreachable"),
        (_closed, "cluster-unreachable"),
        (_page, "cluster-unreachable"),
        (_body([]), "cluster-unreachable"),
        (_body({"items": "none"}), "cluster-unreachable"),
    ],
)
def test_a_kind_that_cannot_be_read_is_named(path: str, answer: Answer, cause: str) -> None:
    """One 403 ended the whole check, and what was read before it was not told."""
    document, printed = checked({**ALL_GOOD, path: answer})
    assert (document["cause"], document["exitCode"]) == (cause, 3)
    assert f"the {NAMES[path]} cannot be read" in printed
    assert NAMES[path] in document["unread"]
    assert "plugin-missing" not in printed
    if path != NODES:
        assert [node["name"] for node in document["nodes"]] == ["n0"]


def test_a_slow_request_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Client):
        async def list(self, path: str, **query: str) -> list[dict[str, Any]]:
            if path == PODS:
                # As at the end of --timeout.
                raise TimeoutError
            return await super().list(path, **query)

    monkeypatch.setattr(api, "Client", Slow)
    document, printed = checked(ALL_GOOD)
    assert document["cause"] == "timeout"
    assert "did not return its pods" in printed


def test_a_job_that_may_not_be_created_is_reported() -> None:
    pods = "/api/v1/namespaces/default/pods"
    document, printed = checked({**ALL_GOOD, pods: _refusal(403)}, job=True)
    assert document["cause"] == "credentials-refused"
    assert "the job cannot be created: said 403" in printed


def test_a_job_that_ran_proves_gpus_also_if_its_node_is_gone_afterwards() -> None:
    """AKS removes an idle node: the last look then found none, as if nothing had been proved."""
    pods = "/api/v1/namespaces/default/pods"
    job: dict[str, Any] = {}

    def kept(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            job["status"] = {"phase": "Succeeded"}
        elif request.method == "DELETE":
            job["deleted"] = True
        elif request.path.endswith("/log"):
            return web.Response(text="Test PASSED")
        elif job.get("deleted"):
            return web.json_response({}, status=404)
        return web.json_response({"spec": {"nodeName": "n0"}, **job})

    def nodes(request: web.Request) -> web.StreamResponse:
        return _listed(*[GOOD[NODES]] * ("deleted" not in job))(request)

    class Answers(dict[str, Answer]):
        def get(self, path: str, default: Any = None) -> Any:
            return kept if path.startswith(pods) else super().get(path, default)

    document, printed = checked(Answers({**ALL_GOOD, NODES: nodes}), job=True)
    assert document["nodes"] == []
    assert document["cause"] == "gpus-schedulable", printed
