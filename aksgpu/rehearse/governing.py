"""The commands status, stop and start, for the servers and clusters of rehearsals."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from aksgpu.outcome import Cause, Finding, StoppedError, verdict
from aksgpu.rehearsal_stage import ERAS, Era, rehearsal_home
from aksgpu.rehearse.stacks import stacks_of
from aksgpu.report import ReportTable, findings_of, print_json, print_result, table
from engine import ensure_kubernetes
from engine.progress import to_stderr
from rehearsal.cloud import CloudError, Status, refuse_other_systems, status_of
from rehearsal.cloud import start as start_cloud
from rehearsal.cloud import stop as stop_cloud
from rehearsal.code import fingerprint

_NOTHING = "There is no rehearsal: `make rehearse` creates one."
_SERVERS = {
    "running": "runs",
    "silent": "runs, but does not answer: it is starting, or busy",
    "stopped": "does not run",
}


def status(console: Console, *, as_json: bool) -> int:
    """Shows the state of the rehearsals, and what to do next; the exit code."""
    statuses = {era: status_of(home) for era, home in _homes().items()}
    cause, step = _cause(statuses), _next_step(statuses)
    if as_json:
        documents = [_document(era, each) for era, each in statuses.items()]
        print_json({**cause.document(), "homes": documents, "next": step}, console)
        return cause.exit_code
    for era, each in statuses.items():
        _show(era, each, console)
    console.print(step, soft_wrap=True)
    if cause.is_problem:
        print_result(cause, console)
    return cause.exit_code


def stop(console: Console) -> int:
    """Stops servers and clusters, and keeps their data; the exit code."""

    def stop_home(_: Era, home: Path) -> None:
        result = "has stopped" if stop_cloud(home) else "did not run"
        console.print(f"The rehearsal in {home} {result}.", soft_wrap=True)

    _for_each_home(stop_home)
    console.print("`aksgpu start` starts it again, with its data." if _homes() else _NOTHING)
    return 0


def start(console: Console) -> int:
    """Starts servers, and restarts dead control planes; the exit code."""
    refuse_other_systems()
    _for_each_home(_start)
    return status(console, as_json=False)


def _start(era: Era, home: Path) -> None:
    binaries = ensure_kubernetes(to_stderr).folder
    start_cloud(home, era=era, kubernetes=binaries, say=to_stderr)
    if _is_failed(status_of(home)):
        to_stderr("A control plane is dead: restarting the server and its clusters.")
        stop_cloud(home)
        start_cloud(home, era=era, kubernetes=binaries, say=to_stderr)


def _for_each_home(work: Callable[[Era, Path], None]) -> None:
    """Calls `work` for all homes. Raises StoppedError afterwards if it failed for any."""
    findings = list[Finding]()
    for era, home in _homes().items():
        try:
            work(era, home)
        except CloudError as error:
            findings += findings_of(error)
    if findings:
        raise StoppedError(*findings)


def _homes() -> dict[Era, Path]:
    return {era: rehearsal_home(era) for era in ERAS if rehearsal_home(era).exists()}


def _is_failed(status: Status) -> bool:
    return any(cluster["controlPlane"] == "failed" for cluster in status.clusters)


def _cause(statuses: Mapping[Era, Status]) -> Cause:
    causes = [Cause.REHEARSAL_UNAVAILABLE for each in statuses.values() if each.server == "silent"]
    causes += [Cause.CLUSTER_DOWN for each in statuses.values() if _is_failed(each)]
    return verdict(causes)


def _next_step(statuses: Mapping[Era, Status]) -> str:
    if not statuses:
        return _NOTHING
    if any(each.server == "silent" for each in statuses.values()):
        return (
            "Next: run this again in a minute; if the server still does not answer, `aksgpu stop`."
        )
    if any(map(_is_failed, statuses.values())):
        return "Next: `aksgpu start` restarts the dead control plane."
    if any(each.server == "stopped" for each in statuses.values()):
        return "Next: `aksgpu start` starts it again; `make rehearse-down` removes it."
    return "Next: `aksgpu check --rehearsal` checks the GPUs; `aksgpu stop` keeps all data."


def _document(era: Era, status: Status) -> dict[str, Any]:
    home = rehearsal_home(era)
    document: dict[str, Any] = {"era": era, "home": str(home), "server": status.server}
    if status.record:
        document |= {
            "pid": status.record.pid,
            "url": status.record.url,
            "since": status.record.started,
            "timeScale": status.record.time_scale,
            "isThisCode": status.record.code == fingerprint(),
        }
    return document | {
        "memoryMiB": status.memory_mib,
        "clusters": status.clusters,
        "stacks": stacks_of(home),
        "complaints": status.complaints,
    }


def _show(era: Era, status: Status, console: Console) -> None:
    home, record = rehearsal_home(era), status.record
    lines = [f"The rehearsal in {home}, era {era}: its server {_SERVERS[status.server]}"]
    if record:
        memory = f", {status.memory_mib} MiB with its clusters" if status.memory_mib else ""
        lines += [f"  {record.url}, process {record.pid}{memory}"]
        lines += [f"  since {record.started[:19].replace('T', ' ')} UTC"]
        if record.code != fingerprint():
            lines += ["  with another version of the code: the next command restarts it"]
    lines += [f"  stacks: {', '.join(stacks_of(home)) or 'none'}"]
    lines += [f"  {complaint}" for complaint in status.complaints]
    console.print("\n".join(lines), soft_wrap=True, markup=False, highlight=False)
    if status.clusters:
        pools = table("cluster", "group", "control plane", "pool", "size", "nodes", "GPUs")
        for cluster in status.clusters:
            _add_rows(pools, cluster)
        console.print(pools)


def _add_rows(pools: ReportTable, cluster: Mapping[str, Any]) -> None:
    """Adds a row for each pool; only the first names the cluster."""
    plane = cluster["controlPlane"]
    if cluster.get("reason"):
        plane += f": {cluster['reason']}"
    elif (state := cluster.get("provisioningState", "Succeeded")) != "Succeeded":
        plane += f", {state}"
    heading = (cluster["name"], cluster["group"], plane)
    for pool in cluster.get("pools") or [None]:
        cells = ("", "", "", "")
        if pool:
            nodes = str(pool["nodes"])
            if pool["ready"] != pool["nodes"]:
                nodes += f", {pool['ready']} ready"
            cells = (pool["name"], pool["vmSize"], nodes, str(pool["gpus"]))
        pools.add_row(*heading, *cells)
        heading = ("", "", "")
