"""The commands status, stop and start, for the server and the clusters of the rehearsal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from aksgpu.outcome import Cause, stopped
from aksgpu.rehearsal_stage import command_line, down_line, is_of_others, rehearsal_home
from aksgpu.rehearse import stored_only
from aksgpu.rehearse.stacks import stacks_of
from aksgpu.report import ReportTable, print_json, print_next, print_result, table
from machine_setup import ensure_kubernetes
from machine_setup.progress import to_stderr
from rehearsal.cloud import Status, page_of, refuse_other_systems, status_of
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
    """Shows the state of the rehearsal, and what to do next; the exit code."""
    home = _home()
    status = status_of(home) if home else None
    cause, step = _cause(status), _next_step(status)
    if as_json:
        documents = [_document(home, status)] if home and status else []
        print_json({**cause.document(), "homes": documents, "next": step}, console)
        return cause.exit_code
    if home and status:
        _show(home, status, console)
    console.print(step, soft_wrap=True)
    if cause.is_problem:
        print_result(cause, console)
    return cause.exit_code


def dashboard(console: Console, *, as_json: bool) -> int:
    """Prints the address of the page that shows the rehearsal; the exit code."""
    address = page_of(rehearsal_home())
    if address is None:
        advice = f"`{_typed('start')}` starts it" if _home() else "`make rehearse` creates one"
        raise stopped(Cause.REHEARSAL_UNAVAILABLE, "no rehearsal with a page runs", advice)
    if as_json:
        print_json({**Cause.FINE.document(), "url": address}, console)
    else:
        # Nothing opens it: all users of this machine could read the token in a browser's options.
        print_next("Next: open this in a browser on this machine", [address], console)
    return 0


def stop(console: Console) -> int:
    """Stops the server and the clusters, and keeps their data; the exit code."""
    home = _home()
    if home:
        result = "has stopped" if stop_cloud(home) else "did not run"
        console.print(f"The rehearsal in {home} {result}.", soft_wrap=True)
    console.print("`aksgpu start` starts it again, with its data." if home else _NOTHING)
    return 0


def start(console: Console) -> int:
    """Starts the server, and restarts dead control planes; the exit code."""
    refuse_other_systems()
    if home := _home():
        binaries = ensure_kubernetes(to_stderr).folder
        start_cloud(home, kubernetes=binaries, say=to_stderr)
        if status_of(home).dead_clusters:
            to_stderr("A control plane is dead: restarting the server and its clusters.")
            stop_cloud(home)
            start_cloud(home, kubernetes=binaries, say=to_stderr)
    return status(console, as_json=False)


def _home() -> Path | None:
    """The folder of the rehearsal, if there is one."""
    home = rehearsal_home()
    return home if home.exists() else None


def _cause(status: Status | None) -> Cause:
    if status and status.server == "silent":
        return Cause.REHEARSAL_UNAVAILABLE
    return Cause.CLUSTER_DOWN if status and status.dead_clusters else Cause.FINE


def _next_step(status: Status | None) -> str:
    if status is None:
        return _NOTHING
    if status.server == "silent":
        return (
            "Next: run this again in a minute; if the server still does not answer, `aksgpu stop`."
        )
    if status.dead_clusters:
        return f"Next: `{_typed('start')}` restarts the dead control plane."
    if status.server == "stopped":
        return f"Next: `{_typed('start')}` starts it again; `{down_line()}` removes it."
    check, stop_it = _typed("check", "--rehearsal"), _typed("stop")
    return f"Next: `{check}` checks the GPUs; `{stop_it}` keeps all data."


def _typed(*words: str) -> str:
    """A command as a line of this report has it."""
    return command_line(*words) if is_of_others() else " ".join(["aksgpu", *words])


def _document(home: Path, status: Status) -> dict[str, Any]:
    document: dict[str, Any] = {"home": str(home), "server": status.server}
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
        "storedTypes": status.stored_types,
    }


def _show(home: Path, status: Status, console: Console) -> None:
    record = status.record
    lines = [f"The rehearsal in {home}: its server {_SERVERS[status.server]}"]
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
        for cluster in status.clusters:
            if reason := cluster.get("reason"):
                line = f"Control plane of {cluster['name']}: {reason}"
                console.print(Text(line), soft_wrap=True)
    if not_simulated := stored_only.in_words(status.clusters, status.stored_types):
        console.print(not_simulated, soft_wrap=True, markup=False, highlight=False)


def _add_rows(pools: ReportTable, cluster: Mapping[str, Any]) -> None:
    """Adds a row for each pool; only the first names the cluster."""
    plane = cluster["controlPlane"]
    if (state := cluster.get("provisioningState", "Succeeded")) != "Succeeded":
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
