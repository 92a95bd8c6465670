"""One of the two ways in which the article happens: its steps, and what each of them shows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from acceptance.arm_view import Azure
from acceptance.commands import Runner
from acceptance.kubectl import Kubectl
from aksgpu.running import ProgramError

Result = Literal["ok", "not ok", "note"]


class NotShownError(Exception):
    """What a row says cannot be seen, and the message is what was seen instead."""


@dataclass(frozen=True)
class Finding:
    """What became of a row, and by what it is known."""

    result: Result
    proof: str


@dataclass(frozen=True)
class Way:
    """What there is to look at: the cloud, its clusters, and what commands printed."""

    azure: Azure
    runner: Runner
    # By their resource groups, from when there are credentials for them.
    clusters: dict[str, Kubectl] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def cluster(self, group: str) -> Kubectl:
        """kubectl on the cluster of a group."""
        if group not in self.clusters:
            raise NotShownError(f"There are no credentials for the cluster in {group}.")
        return self.clusters[group]


# Gives what the row is known by, or raises NotShownError.
Proof = Callable[[Way], str]


@dataclass(frozen=True)
class Step:
    """Something that is done, and the numbers of the rows that can be seen once it is."""

    do: Callable[[Way], None]
    shows: tuple[int, ...] = ()


def go(steps: Iterable[Step], way: Way, proofs: Mapping[int, Proof]) -> dict[int, Finding]:
    """Does every step: where one fails, its rows are not shown, and the next may still be."""
    findings: dict[int, Finding] = {}
    for step in steps:
        try:
            step.do(way)
        except (ProgramError, NotShownError) as error:
            findings |= dict.fromkeys(step.shows, Finding("not ok", str(error)))
        else:
            findings |= {number: _look(proofs[number], way) for number in step.shows}
    return findings


def require(holds: object, otherwise: str) -> None:
    if not holds:
        raise NotShownError(otherwise)


def _look(proof: Proof, way: Way) -> Finding:
    try:
        return Finding("ok", proof(way))
    except (ProgramError, NotShownError) as error:
        return Finding("not ok", str(error))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        # What was to be looked at is not there, or not of the form that it has.
        return Finding("not ok", f"What there is to see cannot be read: {error!r}")
