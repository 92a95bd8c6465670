"""The stacks of a backend, or exported files: what is stored of each, and what the pack says."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from aks_catalogue.regions import plain
from aks_catalogue.secrecy import with_secrets
from aks_catalogue.shapes import mapping, mappings, sequence
from aksgpu.outcome import Cause, stopped
from aksgpu.review.model import Resource
from aksgpu.review.pools import GpuPool, cluster_of, pools_by_inputs
from aksgpu.running import READ_SECONDS, Program, ProgramError
from provider_kit.secrecy import MASK

Json = Mapping[str, Any]

# Programs at once: each uses about a processor.
_AT_ONCE = 2
_MANDATORY = "mandatory"
_NO_BACKEND = (
    "sign in to the backend that has the stacks (`pulumi login`; for a folder `pulumi login "
    "file://FOLDER`). A shell of `aksgpu env` has those that were rehearsed; files of `pulumi "
    "stack export` need no backend"
)


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
            cluster_of(inputs): plain(str(inputs["location"]))
            for inputs in (mapping(one.get("inputs")) for one in self.resources)
            if inputs.get("location") and inputs.get("resourceName")
        }
        for one in self.resources:
            inputs = mapping(one.get("inputs"))
            found = pools_by_inputs(Resource(str(one.get("urn"))), str(one.get("type")), inputs)
            for pool in found:
                yield pool, regions.get(cluster_of(inputs), "")


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
        try:
            listed = self.pulumi.read_json("stack", "ls", "--all", "--json")
        except ProgramError as error:
            raise stopped(Cause.PROGRAM_FAILED, str(error), _NO_BACKEND) from None
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
        stems = Counter(file.stem for file in {*files})

        def audit(file: Path) -> Audited:
            name = file.stem if stems[file.stem] == 1 else str(file)
            return self._told(self._audit(name, file))

        return self._each(audit, [*dict.fromkeys(files)])

    def _each(self, work: Callable[[Any], Audited], items: Sequence[Any]) -> list[Audited]:
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            return list(workers.map(work, items))

    def _told(self, audited: Audited) -> Audited:
        with self._lock:
            self.say(audited.name)
        return audited

    def _audit(self, name: str, file: Path) -> Audited:
        try:
            state = json.loads(file.read_text(encoding="utf-8"))
            # Encrypted or not.
            state = mapping(with_secrets(state, lambda _: MASK))
        except OSError as error:
            return Audited(name, reason=f"the file cannot be read: {error.strerror}")
        except (RecursionError, ValueError) as error:
            return Audited(name, reason=f"it is no export of a stack: {error}")
        deployment = mapping(state.get("deployment"))
        if not isinstance(deployment.get("resources", []), list) or "deployment" not in state:
            return Audited(name, reason="it is no export of a stack: it has no deployment")
        listed = mappings(sequence(deployment.get("resources")))
        # What waits for its deletion has been replaced. The pack leaves it out too.
        resources = [one for one in listed if not one.get("delete")]
        if not resources:
            return Audited(name)
        # A copy without secrets: pulumi would decrypt them, and the pack would quote them.
        masked = {**state, "deployment": {**deployment, "secrets_providers": None}}
        broken: list[Broken] = []
        try:
            with NamedTemporaryFile("w", dir=self.folder, suffix=".json") as copy:
                copy.write(json.dumps(masked))
                copy.flush()
                ended = self.pulumi.attempt(
                    "policy", "analyze", "--json", "--file", copy.name,
                    "--policy-pack", str(self.pack), seconds=READ_SECONDS,
                )  # fmt: skip
            broken = [*_broken(ended.out)]
            # It fails because of mandatory rules, or by itself.
            if not any(one.is_mandatory for one in broken):
                ended.succeeded()
        except ProgramError as error:
            last = str(error).splitlines()[-1]
            return Audited(name, resources, broken, f"the pack cannot judge it: {last}")
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
