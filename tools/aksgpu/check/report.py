"""The report of a check: tables for people, or one JSON document with the same facts."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from aksgpu.check.cluster_view import NODES, PODS, ClusterView, Node
from aksgpu.check.examination import Examination
from aksgpu.check.expected import Expected
from aksgpu.check.job import SampleJob
from aksgpu.check.judge import driver_state, empty_pools, plugin_state
from aksgpu.outcome import listed
from aksgpu.report import ReportTable, finding_text, print_result, table

# More do not fit on a screen; the first ones explain the others.
_MOST_FINDINGS = 14
_HEADINGS = ("pool", "node", "ready", "GPUs", "allocatable", "used", "driver", "plugin")


def print_tables(examination: Examination, console: Console) -> None:
    if examination.view is not None and NODES not in examination.view.unread:
        console.print(_table(examination.view, examination))
        images = {pod.image for pod in examination.view.pods if pod.is_plugin and pod.image}
        plugins = ", ".join(sorted(images)) or "none"
        console.print(Text(f"Device plugins: {plugins}"), soft_wrap=True)
        if one := [pool for pool, placed in examination.placement.items() if placed is True]:
            text = Text(f"On one InfiniBand network: the nodes of {listed(one)}")
            console.print(text, soft_wrap=True)
    else:
        title = examination.title or "The cluster"
        console.print(Text(f"{title}: cannot read the nodes."), soft_wrap=True)
    if examination.job is not None:
        console.print(_job(examination.job), soft_wrap=True)
    if examination.grown and examination.job and examination.job.node:
        text = Text(
            "AKS may have added a node for this. It costs until AKS removes it, after ten minutes "
            "without pods."
        )
        console.print(text, soft_wrap=True)
    _print_findings(examination, console)


def print_problem(examination: Examination, console: Console) -> None:
    """What is wrong, with its remedy, and the log of a job that failed."""
    job = examination.job
    if job is not None and not job.has_succeeded:
        console.print(_job(job), soft_wrap=True)
    _print_findings(examination, console)


def _print_findings(examination: Examination, console: Console) -> None:
    """The result, and the findings last on the screen, where people look."""
    if examination.job_left_out:
        console.print(Text(f"The job was not run: {examination.job_left_out}."), soft_wrap=True)
    print_result(examination.verdict, console)
    _print_all(examination, console)


def print_summary(examination: Examination, console: Console) -> None:
    """Whether the GPUs work, in a line or two."""
    result, job = examination.verdict.meaning, examination.job
    if job is not None and job.has_succeeded:
        result = f"they work: the job ran on {job.node}"
    console.print(Text(f"GPUs:   {result}"), soft_wrap=True)
    _print_all(examination, console)


def _print_all(examination: Examination, console: Console) -> None:
    findings = examination.findings
    for finding in findings[:_MOST_FINDINGS]:
        console.print(finding_text(finding), soft_wrap=True)
    if more := findings[_MOST_FINDINGS:]:
        console.print(f"{len(more)} more findings: --json has all", markup=False)


def document(examination: Examination) -> dict[str, Any]:
    view = examination.view
    return {
        "title": examination.title,
        **examination.verdict.document(),
        "nodes": [*_nodes(view, examination.expected)] if view else [],
        "unread": sorted(view.unread) if view else [],
        "emptyPools": empty_pools(view, examination.expected) if view else [],
        "findings": [
            {
                "cause": finding.cause.word,
                "isProblem": finding.is_problem,
                "pool": finding.pool,
                "nodes": list(finding.nodes),
                "what": finding.what,
                "advice": finding.advice,
            }
            for finding in examination.findings
        ],
        "job": _job_facts(examination.job) if examination.job else None,
        "onInfinibandNetwork": {
            pool: placed if isinstance(placed, bool) else None
            for pool, placed in examination.placement.items()
        },
        "jobLeftOut": examination.job_left_out,
        "grownPool": examination.grown,
    }


def _table(view: ClusterView, examination: Examination) -> ReportTable:
    """A row for the nodes of a pool that are alike."""
    alike: dict[tuple[str, ...], list[Node]] = {}
    for node in view.nodes:
        ready = "yes" if node.is_ready else "NO"
        ready += ", cordoned" * node.is_cordoned
        states = driver_state(view, node), plugin_state(view, node, examination.expected)
        each = f"{node.allocatable} of {node.capacity}"
        alike.setdefault((node.pool or "-", ready, each, *states), []).append(node)
    nodes = table(*_HEADINGS, title=examination.title)
    for (pool, ready, _, driver, plugin), those in alike.items():
        nodes.add_row(
            pool,
            those[0].name if len(those) == 1 else f"{len(those)} nodes",
            ready,
            str(sum(node.capacity for node in those)),
            str(sum(node.allocatable for node in those)),
            "?" if PODS in view.unread else str(sum(map(view.used, those))),
            driver,
            plugin,
        )
    if empty := empty_pools(view, examination.expected):
        nodes.add_row(Text(", ".join(empty)), "(no nodes now)", "", "0", "0", "0", "", "")
    return nodes


def _job(job: SampleJob) -> Text:
    text = Text()
    if job.log:
        text.append(f"\nThe log of the job {job.name}:\n")
        text.append("".join(f"  {line}\n" for line in job.log.splitlines()))
    text.append(f"\nJob: {job.stage}" + (f", on {job.node}" if job.node else ""))
    if job.leftover:
        text.append(f"\n{job.leftover}", "bold red")
    return text.append("\n")


def _nodes(view: ClusterView, expected: Expected) -> Iterator[dict[str, Any]]:
    for node in view.nodes:
        plugins = view.plugins_on(node)
        yield {
            "name": node.name,
            "pool": node.pool,
            "ready": node.is_ready,
            "cordoned": node.is_cordoned,
            "gpus": {
                "capacity": node.capacity,
                "allocatable": node.allocatable,
                "used": view.used(node),
            },
            "driver": driver_state(view, node),
            "plugin": plugin_state(view, node, expected),
            "pluginPods": [str(pod) for pod in plugins],
            "pluginImages": [pod.image for pod in plugins],
            "taints": [str(taint) for taint in node.taints],
        }


def _job_facts(job: SampleJob) -> dict[str, Any]:
    return {
        "name": job.name,
        "stage": job.stage,
        "succeeded": job.has_succeeded,
        "node": job.node,
        "log": job.log.splitlines(),
        "leftover": job.leftover,
    }
