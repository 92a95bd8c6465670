"""The stacks of a backend, or exported files: what is stored of each, and what the pack says."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_catalogue.shapes import at, mapping, mappings, sequence
from aksgpu.review.model import Resource
from aksgpu.review.pools import GpuPool, pools_by_inputs
from aksgpu.running import READ_SECONDS, Program, ProgramError

Json = Mapping[str, Any]

# Programs at once: each uses about a processor.
_AT_ONCE = 2
_MANDATORY = "mandatory"


@dataclass(frozen=True)
class Broken:
    """A rule that a resource breaks."""

    rule: str
    is_mandatory: bool
    resource: str
    message: str


@dataclass(frozen=True)
class Audited:
    """One stack: its resources, and the rules that it breaks; or why it cannot be read."""

    name: str
    resources: Sequence[Json] = ()
    broken: Sequence[Broken] = ()
    reason: str = ""

    @property
    def pools(self) -> Iterator[tuple[GpuPool, str]]:
        """The pools, each with the region of its cluster; empty if that is in another stack."""
        regions = {
            str(at(one, "inputs.resourceName")): str(at(one, "inputs.location"))
            for one in self.resources
            if at(one, "inputs.location") and at(one, "inputs.resourceName")
        }
        for one in self.resources:
            inputs = mapping(one.get("inputs"))
            found = pools_by_inputs(Resource(str(one.get("urn"))), str(one.get("type")), inputs)
            for pool in found:
                yield pool, regions.get(str(inputs.get("resourceName")), "")


@dataclass(frozen=True)
class Auditor:
    """Reads stacks with pulumi, and asks the pack about each."""

    pulumi: Program
    pack: Path
    folder: Path
    say: Callable[[str], None]
    _lock: Any = field(default_factory=threading.Lock)

    def of_backend(self) -> list[Audited]:
        """All stacks of the backend that pulumi is signed in to."""
        listed = self.pulumi.read_json("stack", "ls", "--all", "--json")
        names = [str(stack.get("name")) for stack in mappings(listed)]

        def export(place: tuple[int, str]) -> Audited:
            number, name = place
            file = self.folder / f"{number}.json"
            arguments = ("stack", "export", "--stack", name, "--file", str(file))
            try:
                self.pulumi.read(*arguments, seconds=READ_SECONDS)
            except ProgramError as error:
                return self._told(Audited(name, reason=str(error).splitlines()[-1]))
            return self._told(self._audit(name, file))

        return self._each(export, list(enumerate(names)))

    def of_files(self, files: Sequence[Path]) -> list[Audited]:
        return self._each(lambda file: self._told(self._audit(file.stem, file)), files)

    def _each(self, work: Callable[[Any], Audited], items: Sequence[Any]) -> list[Audited]:
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            return list(workers.map(work, items))

    def _told(self, audited: Audited) -> Audited:
        with self._lock:
            self.say(audited.name)
        return audited

    def _audit(self, name: str, file: Path) -> Audited:
        try:
            state = mapping(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            return Audited(name, reason=f"it is no export of a stack: {error}")
        deployment = mapping(state.get("deployment"))
        if not isinstance(deployment.get("resources", []), list) or "deployment" not in state:
            return Audited(name, reason="it is no export of a stack: it has no deployment")
        resources = list(mappings(sequence(deployment.get("resources"))))
        if not resources:
            return Audited(name)
        ended = self.pulumi.attempt(
            "policy", "analyze", "--json", "--file", str(file), "--policy-pack", str(self.pack),
            seconds=READ_SECONDS,
        )  # fmt: skip
        broken = [*_broken(ended.out)]
        if ended.code and not broken:
            lines = (ended.err.strip() or ended.out.strip()).splitlines() or ["it failed"]
            return Audited(name, resources, reason=f"the pack cannot judge it: {lines[-1]}")
        return Audited(name, resources, broken)


def _broken(printed: str) -> Iterator[Broken]:
    """Yields the rules in the events that pulumi printed, one a line."""
    for line in printed.splitlines():
        try:
            event = mapping(mapping(json.loads(line)).get("policyEvent"))
        except ValueError:
            continue
        if rule := event.get("policyName"):
            # The first line is the rule's description.
            text = str(event.get("message")).partition("\n")
            yield Broken(
                str(rule),
                event.get("enforcementLevel") == _MANDATORY,
                Resource(str(event.get("resourceUrn"))).name,
                text[2] or text[0],
            )
