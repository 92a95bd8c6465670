"""A check from the first look to the last: how often to look, and whether to run the job."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aksgpu.check import cluster_view, judge
from aksgpu.check.api import Api, opened
from aksgpu.check.cluster_view import ClusterView, Pod
from aksgpu.check.job import SampleJob
from aksgpu.check.target import Target
from aksgpu.outcome import Cause, Finding, StoppedError, verdict
from engine.progress import Progress
from kube.client import ApiError

_POLL_SECONDS = 0.5
_PLUGIN_LOG_LINES = "50"
_SECONDS_FOR_ANOTHER_LOOK = 30.0
# Taints that come and go with a node's state; a job that tolerates them would land badly.
_OF_STATE = "node.kubernetes.io/"


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
    pools: Sequence[str] = ()
    view: ClusterView | None = None
    findings: list[Finding] = field(default_factory=list)
    job: SampleJob | None = None
    # Why the job was not run, though it was asked for.
    job_left_out: str | None = None

    @property
    def verdict(self) -> Cause:
        return verdict((finding.cause for finding in self.findings), Cause.GPUS_SCHEDULABLE)


async def examine(
    examination: Examination, target: Target, options: CheckOptions, progress: Progress
) -> None:
    """Fills the examination in. Where it is cancelled, it cleans up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + options.timeout
    examination.title, examination.pools = target.title, list(target.pools)
    try:
        async with opened(target.kubeconfig, target.environment) as api:
            async with asyncio.timeout_at(deadline):
                await _settled(examination, api, options, progress)
            if options.job:
                seconds = max(1.0, deadline - loop.time())
                await _with_job(examination, api, target, seconds, progress)
    except TimeoutError:
        what = f"the cluster did not tell of itself in {options.timeout:.0f} s"
        advice = "give it longer with --timeout"
        examination.findings.append(Finding(Cause.TIMEOUT, what, advice))
    except ApiError as error:
        what = f"the API server did not take a request: {error}"
        advice = "try again; is it a cluster of AKS?"
        examination.findings.append(Finding(Cause.CLUSTER_UNREACHABLE, what, advice))
    except StoppedError as error:
        examination.findings += error.findings


async def _settled(
    examination: Examination, api: Api, options: CheckOptions, progress: Progress
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


async def _look(examination: Examination, api: Api) -> None:
    # One after the other: whoever has no rights, or no cluster, is told of it once.
    view = ClusterView(
        nodes=cluster_view.nodes(await api.list("/api/v1/nodes"), examination.pools),
        pods=cluster_view.pods(await api.list("/api/v1/pods")),
        daemon_sets=cluster_view.daemon_sets(await api.list("/apis/apps/v1/daemonsets")),
    )
    silent = [
        pod
        for node in view.nodes
        if node.is_ready and not node.capacity
        for pod in view.plugins_on(node)
        # One that crashes has a log too.
        if not pod.unplaced
    ]
    logs = await asyncio.gather(*(_log(api, pod) for pod in silent))
    view = replace(view, plugin_logs=dict(zip(map(str, silent), logs, strict=True)))
    examination.view, examination.findings = view, judge.judge(view, examination.pools)


async def _log(api: Api, pod: Pod) -> str:
    """The end of a plugin's log; nothing where it cannot be had, which is no reason to stop."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
    try:
        return await api.text(path, container=pod.plugin, tailLines=_PLUGIN_LOG_LINES)
    except ApiError:
        return ""


async def _with_job(
    examination: Examination, api: Api, target: Target, seconds: float, progress: Progress
) -> None:
    view = examination.view
    if view is None or not judge.has_room(view, examination.pools):
        examination.job_left_out = "no node offers a GPU, and no pool could grow for it"
        return
    job = SampleJob(api, _tolerations(view, target), progress)
    await job.run(seconds)
    examination.job = job
    # A pool may have grown for it, and what was used before may be free.
    async with asyncio.timeout(_SECONDS_FOR_ANOTHER_LOOK):
        await _look(examination, api)
    if job.finding:
        examination.findings.append(job.finding)


def _tolerations(view: ClusterView, target: Target) -> list[Mapping[str, Any]]:
    """What the job needs to land on any of the GPU nodes, those to come included."""
    needed = [toleration for pool in target.pools.values() for toleration in pool]
    needed += [
        taint.toleration
        for node in view.nodes
        for taint in node.taints
        if taint.blocks and not taint.key.startswith(_OF_STATE)
    ]
    return [one for place, one in enumerate(needed) if one not in needed[:place]]
