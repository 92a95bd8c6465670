"""What runs of the rehearsals: shown, stopped, and started again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from aksgpu.outcome import Cause, Finding, StoppedError, verdict
from aksgpu.rehearsal_stage import ERAS, Era, rehearsal_home
from aksgpu.rehearse.stacks import stacks_of
from aksgpu.report import findings_of, print_json, print_result, table
from engine import ensure_kubernetes
from engine.progress import to_stderr
from rehearsal.cloud import CloudError, Status, refuse_other_systems, status_of
from rehearsal.cloud import start as start_cloud
from rehearsal.cloud import stop as stop_cloud
from rehearsal.code import fingerprint

_NOTHING = "There is no rehearsal: `make rehearse` makes one."
_SERVERS = {
    "running": "runs",
    "silent": "runs, but does not answer: it is starting, or busy",
    "stopped": "does not run",
}


def status(console: Console, *, as_json: bool) -> int:
    """Shows what there is of the rehearsals, and what to do next; the exit code."""
    seen = {era: status_of(home) for era, home in _homes().items()}
    cause, step = _cause(seen), _next_step(seen)
    if as_json:
        documents = [_document(era, one) for era, one in seen.items()]
        print_json({**cause.document(), "homes": documents, "next": step}, console)
        return cause.exit_code
    for era, one in seen.items():
        _show(era, one, console)
    console.print(step, soft_wrap=True)
    if cause.is_problem:
        print_result(cause, console)
    return cause.exit_code


def stop(console: Console) -> int:
    """Ends servers and clusters; all that they have is kept. The exit code."""

    def stop_one(_: Era, home: Path) -> None:
        did = "has stopped" if stop_cloud(home) else "did not run"
        console.print(f"The rehearsal in {home} {did}.", soft_wrap=True)

    _each(stop_one)
    console.print("`aksgpu start` brings it back, with all that it has." if _homes() else _NOTHING)
    return 0


def start(console: Console) -> int:
    """Starts what there is, and what of it is dead; the exit code."""
    refuse_other_systems()
    _each(_start)
    return status(console, as_json=False)


def _start(era: Era, home: Path) -> None:
    binaries = ensure_kubernetes(to_stderr).folder
    start_cloud(home, era=era, kubernetes=binaries, say=to_stderr)
    if _is_failed(status_of(home)):
        to_stderr("A control plane is dead: the server starts again, and with it all clusters.")
        stop_cloud(home)
        start_cloud(home, era=era, kubernetes=binaries, say=to_stderr)


def _each(work: Callable[[Era, Path], None]) -> None:
    """Does it to each home. Raises StoppedError with what went wrong in any, once all had it."""
    failed = list[Finding]()
    for era, home in _homes().items():
        try:
            work(era, home)
        except CloudError as error:
            failed += findings_of(error)
    if failed:
        raise StoppedError(*failed)


def _homes() -> dict[Era, Path]:
    return {era: rehearsal_home(era) for era in ERAS if rehearsal_home(era).exists()}


def _is_failed(one: Status) -> bool:
    return any(cluster["controlPlane"] == "failed" for cluster in one.clusters)


def _cause(seen: Mapping[Era, Status]) -> Cause:
    causes = [Cause.REHEARSAL_UNAVAILABLE for one in seen.values() if one.server == "silent"]
    causes += [Cause.CLUSTER_DOWN for one in seen.values() if _is_failed(one)]
    return verdict(causes)


def _next_step(seen: Mapping[Era, Status]) -> str:
    if not seen:
        return _NOTHING
    if any(one.server == "silent" for one in seen.values()):
        return "Next: look again in a minute; where it still does not answer, `aksgpu stop`."
    if any(map(_is_failed, seen.values())):
        return "Next: `aksgpu start` starts the dead control plane again."
    if any(one.server == "stopped" for one in seen.values()):
        return "Next: `aksgpu start` brings it back; `make rehearse-down` takes it away."
    return (
        "Next: `aksgpu check --rehearsal` looks at the GPUs; `aksgpu stop` ends it and keeps all."
    )


def _document(era: Era, one: Status) -> dict[str, Any]:
    home = rehearsal_home(era)
    document: dict[str, Any] = {"era": era, "home": str(home), "server": one.server}
    if one.record:
        document |= {
            "pid": one.record.pid,
            "url": one.record.url,
            "since": one.record.started,
            "timeScale": one.record.time_scale,
            "isThisCode": one.record.code == fingerprint(),
        }
    return document | {
        "memoryMiB": one.memory_mib,
        "clusters": one.clusters,
        "stacks": stacks_of(home),
        "complaints": one.complaints,
    }


def _show(era: Era, one: Status, console: Console) -> None:
    lines = [
        f"The rehearsal in {rehearsal_home(era)}, era {era}: its server {_SERVERS[one.server]}"
    ]
    if one.record:
        memory = f", {one.memory_mib} MiB of memory with its clusters" if one.memory_mib else ""
        lines += [f"  {one.record.url}, process {one.record.pid}{memory}"]
        lines += [f"  since {one.record.started[:19].replace('T', ' ')} UTC"]
        if one.record.code != fingerprint():
            lines += ["  with another version of the code: the next command starts it again"]
    lines += [f"  stacks: {', '.join(stacks_of(rehearsal_home(era))) or 'none'}"]
    lines += [f"  {complaint}" for complaint in one.complaints]
    console.print("\n".join(lines), soft_wrap=True, markup=False, highlight=False)
    if one.clusters:
        shown = table("cluster", "group", "control plane", "pool", "size", "nodes", "GPUs")
        for cluster in one.clusters:
            _add_rows(shown, cluster)
        console.print(shown)


def _add_rows(shown: Any, cluster: Mapping[str, Any]) -> None:
    """A line for each pool; the first has what is said of the cluster."""
    plane = cluster["controlPlane"]
    if cluster.get("reason"):
        plane += f": {cluster['reason']}"
    elif (state := cluster.get("provisioningState", "Succeeded")) != "Succeeded":
        plane += f", {state}"
    heading = (cluster["name"], cluster["group"], plane)
    for pool in cluster.get("pools") or [None]:
        said = ("", "", "", "")
        if pool:
            nodes = str(pool["nodes"])
            if pool["ready"] != pool["nodes"]:
                nodes += f", {pool['ready']} ready"
            said = (pool["name"], pool["vmSize"], nodes, str(pool["gpus"]))
        shown.add_row(*heading, *said)
        heading = ("", "", "")
