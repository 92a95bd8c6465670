"""Runs `pulumi up`, and shows one line of progress instead of its output."""

import json
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, STDOUT, Popen
from tempfile import TemporaryDirectory
from typing import Any

from pulumi.automation.events import EngineEvent

from aksgpu.outcome import Cause, Finding
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse.planning import Plan, configuration_of_the_pack
from aksgpu.review.diagnosis import problems_of
from aksgpu.review.masking import clean
from aksgpu.review.model import Resource
from aksgpu.review.preview_result import PreviewResult
from aksgpu.running import Program
from aksgpu.stack_names import short_name
from machine_setup.progress import Progress, to_stderr

_POLL_SECONDS = 0.2
_VERBS = {"create": "creating", "update": "updating", "delete": "deleting"}
_UNCHANGED = ("same", "read", "refresh")
_INTERRUPTED = (
    "Interrupted. Pulumi finishes the operations in progress; interrupt again to kill it."
)

Event = dict[str, Any]


@dataclass(frozen=True)
class Update:
    """The result of an update."""

    cause: Cause
    # The errors of the engine and of the policy pack.
    problems: list[Finding]
    warnings: list[str]
    # The file with pulumi's output.
    log: Path


def update(stage: Stage, planned: Plan) -> Update:
    """Brings the stack up as planned."""
    stack, pulumi = planned.stack, stage.pulumi()
    log = stage.project.home / "updates" / f"{short_name(stack)}.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    configuration = configuration_of_the_pack(stage, stack)
    command = ["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", stack]
    command += ["--policy-pack", str(stage.project.pack)] if stage.project.pack else []
    command += ["--policy-pack-config", str(configuration)] if configuration else []
    command += ["--refresh"] if planned.result.drift else []
    changes = {change.resource.urn for change in planned.result.changes}
    # In the home, which takes away what a killed update leaves.
    with TemporaryDirectory(dir=log.parent) as folder:
        events = EventLog(Path(folder) / "events.jsonl")
        cause = _run(pulumi, [*command, "--event-log", str(events.file)], log, events, changes)
        events.read()
    result = PreviewResult()
    result.on_events(map(EngineEvent.from_json, events.events))
    problems = [_of_update(problem) for problem in problems_of(result.errors)]
    failed = Plan(stack, result, problems) if cause.is_problem else Plan(stack, result)
    rows = [row for row in failed.rows() if row.cause]
    return Update(
        cause,
        [
            Finding(row.cause or cause, row.what, row.advice, key=row.key, pool=row.pool)
            for row in rows
        ],
        [*events.warnings()],
        log,
    )


def _event(line: bytes) -> Event:
    """The event of a line; a warning if the line cannot be read."""
    with suppress(ValueError):
        event = json.loads(line)
        if isinstance(event, dict):
            return event
    message = f"An event of the engine could not be read: {line[:200].decode(errors='replace')}"
    return {"diagnosticEvent": {"severity": "warning", "message": message}}


class EventLog:
    """The events of a running engine, which writes them to a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.events: list[Event] = []
        self._offset = 0

    def read(self) -> None:
        """Reads new complete lines."""
        if not self.file.exists():
            return
        with self.file.open("rb") as file:
            file.seek(self._offset)
            lines = file.read().rpartition(b"\n")[0]
        self._offset += len(lines) + bool(lines)
        self.events += map(_event, lines.splitlines())

    def progress(self, changes: Collection[str]) -> str:
        """How many of the changed resources are done, and the one in progress."""
        started: dict[str, Event] = {}
        done = set()
        for event in self.events:
            if start := event.get("resourcePreEvent"):
                started[start["metadata"]["urn"]] = start["metadata"]
            elif end := event.get("resOutputsEvent") or event.get("resOpFailedEvent"):
                done.add(end["metadata"]["urn"])
        count = f"{len(done & {*changes})} of {len(changes)} resources"
        latest = [step for urn, step in started.items() if urn not in done and _is_custom(step)]
        if not latest:
            return count
        resource = Resource(latest[-1]["urn"])
        verb = _VERBS.get(latest[-1]["op"], "replacing")
        return f"{count}, {verb} {resource.name} ({resource.type.rpartition(':')[2]})"

    def warnings(self) -> Iterator[str]:
        """The warnings of the program and its providers, without repetition."""
        diagnostics = (event.get("diagnosticEvent") or {} for event in self.events)
        texts = (
            clean(diagnostic["message"])
            for diagnostic in diagnostics
            if diagnostic.get("severity") == "warning"
        )
        yield from dict.fromkeys(texts)


def _run(
    pulumi: Program, command: list[str], log: Path, events: EventLog, changes: Collection[str]
) -> Cause:
    # The engine accepts --event-log only with this.
    environment = {**pulumi.environment, "PULUMI_DEBUG_COMMANDS": "true"}
    program = replace(pulumi, environment=environment)
    try:
        with (
            log.open("wb") as output,
            Progress("pulumi up", to_stderr) as progress,
        ):

            def follow(process: "Popen[bytes]") -> int:
                try:
                    while process.poll() is None:
                        events.read()
                        progress.update(events.progress(changes))
                        time.sleep(_POLL_SECONDS)
                except KeyboardInterrupt:
                    progress.reached(_INTERRUPTED)
                    raise
                return process.wait()

            # No timeout: an interrupted update may finish its operations.
            code = program.running(
                follow, command, None, stdin=DEVNULL, stdout=output, stderr=STDOUT
            )
    except KeyboardInterrupt:
        return Cause.INTERRUPTED
    return Cause.UPDATE_FAILED if code else Cause.FINE


def _is_custom(step: Event) -> bool:
    """Whether a provider works on it. Components only wait for their children."""
    state = step.get("new") or step.get("old") or {}
    return bool(state.get("custom")) and step["op"] not in _UNCHANGED


def _of_update(problem: Finding) -> Finding:
    if problem.cause is not Cause.PREVIEW_FAILED:
        return problem
    return replace(problem, cause=Cause.UPDATE_FAILED, advice="")
