"""A check from the first look to the last: how often to look, and whether to run the job."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aksgpu.check import cluster_view, judge
from aksgpu.check.api import is_final, opened, refused
from aksgpu.check.cluster_view import DAEMON_SETS, NODES, PODS, ClusterView, Pod
from aksgpu.check.expected import Expected
from aksgpu.check.job import SampleJob
from aksgpu.check.outlook import Outlook, outlook
from aksgpu.check.target import Target
from aksgpu.outcome import Cause, Finding, StoppedError, verdict
from engine.progress import Progress
from kube.client import ApiError, Client

_POLL_SECONDS = 0.5
_PLUGIN_LOG_LINES = "50"
_SECONDS_FOR_ANOTHER_LOOK = 30.0
_PATHS = {
    NODES: "/api/v1/nodes",
    PODS: "/api/v1/pods",
    DAEMON_SETS: "/apis/apps/v1/daemonsets",
}


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What a check is asked to do."""

    job: bool = False
    json: bool = False
    timeout: float = 900.0
    # How long to look again and again while what is wrong may pass by itself.
    settle: float = 10.0


@dataclass
class Examination:
    """What is known so far: nothing of it is lost when a later part fails."""

    title: str = ""
    expected: Expected = field(default_factory=Expected)
    view: ClusterView | None = None
    findings: list[Finding] = field(default_factory=list)
    job: SampleJob | None = None
    # Why the job was not run, though it was asked for.
    job_left_out: str | None = None
    # The pools that may have got a node for it.
    grown: tuple[str, ...] = ()
    # What the cluster was last asked for.
    asked_for: str = "anything"

    @property
    def verdict(self) -> Cause:
        causes = [finding.cause for finding in self.findings]
        return verdict(causes, judge.result(self.view, self.findings))


async def examine(
    examination: Examination, target: Target, options: CheckOptions, progress: Progress
) -> None:
    """Fills the examination in. Where it is cancelled, it cleans up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + options.timeout
    examination.title, examination.expected = target.title, target.expected
    try:
        async with opened(target.kubeconfig, target.environment) as api:
            async with asyncio.timeout_at(deadline):
                await _settled(examination, api, options, progress)
            if options.job:
                seconds = max(1.0, deadline - loop.time())
                await _with_job(examination, api, options.settle, seconds, progress)
    except TimeoutError:
        what = f"in {options.timeout:.0f} s the cluster did not tell of {examination.asked_for}"
        advice = "give it longer with --timeout"
        examination.findings.append(Finding(Cause.TIMEOUT, what, advice))
    except ApiError as error:
        examination.findings.append(refused("the cluster did not take a request", error))
    except StoppedError as error:
        examination.findings += error.findings


async def _settled(
    examination: Examination, api: Client, options: CheckOptions, progress: Progress
) -> None:
    """Looks until all is well, or what is wrong has had its time to pass."""
    loop = asyncio.get_running_loop()
    until = loop.time() + options.settle
    while True:
        await _look(examination, api)
        if not judge.may_pass(examination.findings) or loop.time() >= until:
            return
        progress.update(f"Looking again, it may pass: {examination.findings[0].what}")
        await asyncio.sleep(_POLL_SECONDS)


async def _look(examination: Examination, api: Client) -> None:
    examination.view, refusals = await _seen(examination, api)
    examination.findings = [*refusals, *judge.judge(examination.view, examination.expected)]


async def _seen(examination: Examination, api: Client) -> tuple[ClusterView, list[Finding]]:
    """What can be read of the cluster, and what cannot."""
    items: dict[str, list[dict[str, Any]]] = {}
    refusals: list[Finding] = []
    for what, path in _PATHS.items():
        examination.asked_for = f"its {what}"
        try:
            items[what] = await api.list(path)
        except ApiError as error:
            refusals.append(refused(f"the {what} cannot be read", error))
            # Whoever has no cluster, or is not let in, is told of it once.
            if is_final(error):
                break
    nodes = items.get(NODES, [])
    if cluster_view.is_rehearsed(nodes) and "rehearsed" not in examination.title:
        examination.title += ", which is rehearsed"
    examination.asked_for = "its version"
    view = ClusterView(
        unread=frozenset(_PATHS) - items.keys(),
        version=await _version(examination, api, nodes) if nodes else "",
        kubelets=cluster_view.kubelets(nodes),
        nodes=cluster_view.nodes(nodes, examination.expected.names),
        pods=cluster_view.pods(items.get(PODS, [])),
        daemon_sets=cluster_view.daemon_sets(items.get(DAEMON_SETS, [])),
    )
    silent = [
        pod
        for node in view.nodes
        if node.is_ready and not node.capacity
        for pod in view.plugins_on(node)
        # One that crashes has a log too.
        if not pod.unplaced
    ]
    examination.asked_for = "the logs of its device plugins"
    logs = await asyncio.gather(*(_log(api, pod) for pod in silent))
    return replace(view, plugin_logs=dict(zip(map(str, silent), logs, strict=True))), refusals


async def _version(examination: Examination, api: Client, nodes: list[dict[str, Any]]) -> str:
    """The control plane's; a rehearsal's API server has one version, whatever cluster it plays."""
    if cluster_view.is_rehearsed(nodes):
        return examination.expected.version
    try:
        return cluster_view.release((await api.get("/version")).get("gitVersion"))
    except ApiError:
        return ""


async def _log(api: Client, pod: Pod) -> str:
    """The end of a plugin's log; nothing where it cannot be had, which is no reason to stop."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
    try:
        return await api.text(path, container=pod.plugin, tailLines=_PLUGIN_LOG_LINES)
    except ApiError:
        return ""


async def _with_job(
    examination: Examination, api: Client, settle: float, seconds: float, progress: Progress
) -> None:
    view, expected = examination.view, examination.expected
    if view is None or NODES in view.unread:
        examination.job_left_out = "nobody knows whether it would get a GPU"
        return
    place = outlook(view, expected, is_coming=False)
    if place.never:
        examination.job_left_out = place.never
        if not examination.verdict.is_problem:
            what, advice = f"the job was not run: {place.never}", "raise a pool's count or maxCount"
            examination.findings.append(Finding(Cause.POD_PENDING, what, advice))
        return
    if place.grows:
        names = " or ".join(place.grows)
        progress.reached(f"The job makes AKS add a node to pool {names}, which costs.")
    examination.grown = place.grows

    async def look_around() -> Outlook:
        return outlook((await _seen(examination, api))[0], expected, is_coming=True)

    job = SampleJob(api, _tolerations(view, expected), progress, look_around, settle)
    await job.run(seconds)
    examination.job = job
    # A pool may have grown for it, and what was used before may be free.
    async with asyncio.timeout(_SECONDS_FOR_ANOTHER_LOOK):
        await _look(examination, api)
    if job.finding:
        examination.findings.append(job.finding)


def _tolerations(view: ClusterView, expected: Expected) -> list[Mapping[str, Any]]:
    """What the job needs to land on any of the GPU nodes, those to come included."""
    needed = [one for pool in (expected.pools or {}).values() for one in pool.tolerations]
    needed += [
        taint.toleration
        for node in view.nodes
        for taint in node.taints
        # A job that tolerates what comes and goes would land badly.
        if taint.blocks and not taint.key.startswith(judge.PASSING_TAINTS)
    ]
    return [one for place, one in enumerate(needed) if one not in needed[:place]]
