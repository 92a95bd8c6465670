"""Runs `pulumi up`, and shows one line of progress in place of everything that it prints."""

import json
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from tempfile import TemporaryDirectory
from typing import Any

from pulumi.automation.events import EngineEvent

from aksgpu.outcome import Cause, Finding
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse.planning import Plan
from aksgpu.review.diagnosis import problems_of
from aksgpu.review.masking import clean
from aksgpu.review.model import Resource
from aksgpu.review.seen import Seen
from aksgpu.running import Program
from engine.progress import Progress, to_stderr

_POLL_SECONDS = 0.2
_VERBS = {"create": "creating", "update": "updating", "delete": "deleting"}
_UNCHANGED = ("same", "read", "refresh")
_INTERRUPTED = "Interrupted. Pulumi finishes what it has begun; interrupt again to kill it."

Event = dict[str, Any]


@dataclass(frozen=True)
class Update:
    """How an update has ended."""

    cause: Cause
    # What went wrong, in the engine's words and in the policy pack's.
    problems: list[Finding]
    warnings: list[str]
    # Everything that pulumi printed.
    log: Path


def update(stage: Stage, planned: Plan) -> Update:
    """Brings the stack up as planned."""
    stack, pulumi = planned.stack, stage.pulumi()
    log = stage.project.home / "updates" / f"{stack}.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    configuration = stage.project.configuration_of_the_pack(stack)
    command = ["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", stack]
    command += ["--policy-pack", str(stage.project.pack)]
    command += ["--policy-pack-config", str(configuration)] if configuration else []
    command += ["--refresh"] if planned.seen.drift else []
    changes = {change.resource.urn for change in planned.seen.changes}
    with TemporaryDirectory() as folder:
        events = EventLog(Path(folder) / "events.jsonl")
        cause = _run(pulumi, [*command, "--event-log", str(events.file)], log, events, changes)
        events.read()
    seen = Seen()
    seen.on_events(map(EngineEvent.from_json, events.events))
    problems = [_of_update(problem) for problem in problems_of(seen.errors)]
    failed = Plan(stack, seen, problems) if cause.is_problem else Plan(stack, seen)
    rows = [row for row in failed.rows() if row.cause]
    return Update(
        cause,
        [Finding(row.cause or cause, row.what, row.advice, pool=row.pool) for row in rows],
        [*events.warnings()],
        log,
    )


class EventLog:
    """The events of an engine at work, as it writes them to a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.events: list[Event] = []
        self._offset = 0

    def read(self) -> None:
        """Reads the lines that are new and whole."""
        if not self.file.exists():
            return
        with self.file.open("rb") as file:
            file.seek(self._offset)
            lines = file.read().rpartition(b"\n")[0]
        self._offset += len(lines) + bool(lines)
        self.events += map(json.loads, lines.splitlines())

    def progress(self, changes: Collection[str]) -> str:
        """How many of the changed resources are done, and the one that is at work."""
        at_work: dict[str, Event] = {}
        done = set()
        for event in self.events:
            if begun := event.get("resourcePreEvent"):
                at_work[begun["metadata"]["urn"]] = begun["metadata"]
            elif ended := event.get("resOutputsEvent") or event.get("resOpFailedEvent"):
                done.add(ended["metadata"]["urn"])
        counted = f"{len(done & {*changes})} of {len(changes)} resources"
        latest = [step for urn, step in at_work.items() if urn not in done and _is_custom(step)]
        if not latest:
            return counted
        resource = Resource(latest[-1]["urn"])
        verb = _VERBS.get(latest[-1]["op"], "replacing")
        return f"{counted}, {verb} {resource.name} ({resource.type.rpartition(':')[2]})"

    def warnings(self) -> Iterator[str]:
        """What the program and its providers warn of, each once."""
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
    # The engine takes --event-log only with this.
    environment = {**pulumi.environment, "PULUMI_DEBUG_COMMANDS": "true"}
    program = replace(pulumi, environment=environment)
    try:
        with (
            log.open("wb") as output,
            Progress("pulumi up", to_stderr) as progress,
            # Interrupted, it has all the time that it needs.
            program.running(command, None, stdin=DEVNULL, stdout=output, stderr=STDOUT) as process,
        ):
            try:
                while process.poll() is None:
                    events.read()
                    progress.update(events.progress(changes))
                    time.sleep(_POLL_SECONDS)
            except KeyboardInterrupt:
                progress.reached(_INTERRUPTED)
                raise
    except KeyboardInterrupt:
        return Cause.INTERRUPTED
    return Cause.UPDATE_FAILED if process.returncode else Cause.FINE


def _is_custom(step: Event) -> bool:
    """Whether a provider works on it; a component is at work as long as its children are."""
    state = step.get("new") or step.get("old") or {}
    return bool(state.get("custom")) and step["op"] not in _UNCHANGED


def _of_update(problem: Finding) -> Finding:
    if problem.cause is not Cause.PREVIEW_FAILED:
        return problem
    return replace(problem, cause=Cause.UPDATE_FAILED, advice="")
