"""A check from start to end: when to look again, and whether to run the job."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from aks_catalogue import scale_ups
from aks_catalogue.shapes import at
from aksgpu.check import cluster_view, judge, waiting
from aksgpu.check.api import is_final, opened, refused
from aksgpu.check.cluster_view import DAEMON_SETS, NODES, PODS, ClusterView, Pod
from aksgpu.check.expected import Expected
from aksgpu.check.job import SampleJob, place
from aksgpu.check.target import Target
from aksgpu.outcome import Cause, Finding, StoppedError, verdict
from kube_client.client import ApiError, Client
from machine_setup.progress import Progress

_Answer = TypeVar("_Answer")

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
    # How long to look again while the problems may go away.
    settle: float = 10.0


@dataclass
class Examination:
    """What is known so far; it is kept when a later step fails."""

    title: str = ""
    expected: Expected = field(default_factory=Expected)
    view: ClusterView | None = None
    findings: list[Finding] = field(default_factory=list)
    job: SampleJob | None = None
    # Why the job was not run despite --job.
    job_left_out: str | None = None
    # By pool with InfiniBand: whether its nodes are on one network, or why that is not known.
    placement: dict[str, bool | str] = field(default_factory=dict)
    # The pool to which AKS may have added a node for the job.
    grown: str | None = None
    # The last request, for the message of a timeout.
    last_request: str = "anything"

    @property
    def verdict(self) -> Cause:
        causes = [finding.cause for finding in self.findings]
        # A job that got a GPU has proved it, also if AKS has removed its idle node since.
        has_run = self.job is not None and self.job.has_succeeded
        result = Cause.GPUS_SCHEDULABLE if has_run else judge.result(self.view, self.findings)
        return verdict(causes, result)


async def examine(
    examination: Examination, target: Target, options: CheckOptions, progress: Progress
) -> None:
    """Fills in the examination. Cleans up also when cancelled."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + options.timeout
    examination.title, examination.expected = target.title, target.expected
    try:
        async with opened(target.kubeconfig, target.environment) as api:
            async with asyncio.timeout_at(deadline):
                await _settled(examination, api, options, progress)
            if options.job:
                seconds = max(1.0, deadline - loop.time())
                await _with_job(examination, api, seconds, progress)
        await _place(examination, target, progress)
    except TimeoutError:
        what = f"in {options.timeout:.0f} s the cluster did not return {examination.last_request}"
        advice = "give it longer with --timeout"
        examination.findings.append(Finding(Cause.TIMEOUT, what, advice))
    except ApiError as error:
        examination.findings.append(refused("the cluster refused a request", error))
    except StoppedError as error:
        examination.findings += error.findings


async def _place(examination: Examination, target: Target, progress: Progress) -> None:
    """Asks Azure for the networks of pools with InfiniBand, if there are some."""
    scale_sets = examination.view.scale_sets if examination.view else ()
    # Of a rehearsed cluster by its kubeconfig alone, nothing says where its Azure is.
    if "rehearsed" in examination.title and not target.environment:
        return
    if scale_sets:
        # It takes half a second, and few clusters have InfiniBand.
        from aksgpu.check import fabric  # noqa: PLC0415

        progress.update("Asking Azure for the InfiniBand networks of pools")
        examination.placement = await fabric.placement(scale_sets, target.environment)
        examination.findings += fabric.findings(examination.placement)


async def _settled(
    examination: Examination, api: Client, options: CheckOptions, progress: Progress
) -> None:
    """Looks until there is no problem, or until the problems had time to go away."""
    loop = asyncio.get_running_loop()
    until = loop.time() + options.settle
    while True:
        await _look(examination, api)
        if not judge.may_pass(examination.findings) or loop.time() >= until:
            return
        progress.update(f"Looking again, as this may go away: {examination.findings[0].what}")
        await asyncio.sleep(_POLL_SECONDS)


async def _look(examination: Examination, api: Client) -> ClusterView:
    view, refusals = await _read(examination, api)
    examination.view = view
    examination.findings = [*refusals, *judge.judge(view, examination.expected)]
    return view


async def _read(examination: Examination, api: Client) -> tuple[ClusterView, list[Finding]]:
    """What can be read of the cluster, and a finding for each request that failed."""
    items: dict[str, list[dict[str, Any]]] = {}
    refusals: list[Finding] = []
    for what, path in _PATHS.items():
        examination.last_request = f"its {what}"
        try:
            items[what] = await api.list(path)
        except ApiError as error:
            refusals.append(refused(f"the {what} cannot be read", error))
            # All other requests would fail with the same error.
            if is_final(error):
                break
    nodes = items.get(NODES, [])
    if cluster_view.is_rehearsed(nodes) and "rehearsed" not in examination.title:
        examination.title += ", which is rehearsed"
    view = ClusterView(
        unread=frozenset(_PATHS) - items.keys(),
        nodes=cluster_view.nodes(nodes, examination.expected.names),
        pods=cluster_view.pods(items.get(PODS, [])),
        daemon_sets=cluster_view.daemon_sets(items.get(DAEMON_SETS, [])),
        operators_parts=cluster_view.operators_parts(items.get(DAEMON_SETS, [])),
        scale_sets=cluster_view.scale_sets(nodes),
    )
    plugins = [
        pod
        for node in view.nodes
        if node.is_ready and not node.allocatable
        for pod in view.plugins_on(node)
    ]
    # A pod that crashes has a log too.
    started = [pod for pod in plugins if not pod.unplaced]
    waiting = [pod for pod in plugins if not pod.is_running]
    examination.last_request = "the logs and events of its device plugins"
    logs = await asyncio.gather(*(_log(api, pod) for pod in started))
    warnings = await asyncio.gather(*(_warning(api, pod) for pod in waiting))
    examination.last_request = "the status of its autoscaler"
    status = await _quietly(api.get(scale_ups.STATUS), otherwise={})
    return replace(
        view,
        growth=cluster_view.growth(at(status, f"data.{scale_ups.STATUS_KEY}")),
        plugin_logs=dict(zip(map(str, started), logs, strict=True)),
        plugin_warnings=dict(zip(map(str, waiting), warnings, strict=True)),
    ), refusals


async def _log(api: Client, pod: Pod) -> str:
    """The end of a plugin's log; empty if it cannot be read, and the check continues."""
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
    return await _quietly(
        api.text(path, container=pod.plugin, tailLines=_PLUGIN_LOG_LINES), otherwise=""
    )


async def _warning(api: Client, pod: Pod) -> str:
    """The last warning about a plugin's pod; empty if it cannot be read, as with a log."""
    path = f"/api/v1/namespaces/{pod.namespace}/events"
    events = api.list(path, fieldSelector=f"involvedObject.name={pod.name}")
    return cluster_view.last_warning(await _quietly(events, otherwise=[]))


async def _quietly(answer: Awaitable[_Answer], *, otherwise: _Answer) -> _Answer:
    """An answer, or what stands for it if it is refused: the check then says less."""
    try:
        return await answer
    except ApiError:
        return otherwise


async def _with_job(
    examination: Examination, api: Client, seconds: float, progress: Progress
) -> None:
    view = examination.view
    if view is None or NODES in view.unread:
        examination.job_left_out = "without the nodes, it is not known whether it would get a GPU"
        return
    chosen = place(view, examination.expected)
    if chosen is None:
        examination.job_left_out = "no GPU is free, and AKS adds no node that has one"
        if not examination.verdict.is_problem:
            what = f"the job was not run: {examination.job_left_out}"
            advice = "raise a pool's count or maxCount"
            examination.findings.append(Finding(Cause.POD_PENDING, what, advice))
        return
    if chosen.grows:
        progress.reached(f"The job makes AKS add a node to pool {chosen.grows}, which costs.")
        examination.grown = chosen.grows
    job = examination.job = SampleJob(api, chosen.pod, progress)
    await job.run(seconds)
    # A pool may have grown for it, and GPUs that were in use may be free.
    async with asyncio.timeout(_SECONDS_FOR_ANOTHER_LOOK):
        view = await _look(examination, api)
    if finding := job.finding:
        if finding.cause is Cause.POD_PENDING:
            spec, expected = chosen.pod["spec"], examination.expected
            what = waiting.told(finding.what, spec, 1, view, expected)
            finding = replace(finding, what=what)
        examination.findings.append(finding)
