"""One of the two ways to run the article: its steps, and the rows that each step proves."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from aksgpu.running import ProgramError
from tests.article.arm_view import Azure
from tests.article.commands import Runner
from tests.article.kubectl import Kubectl

Result = Literal["ok", "not ok", "note"]


class NotShownError(Exception):
    """A row is not proven; the message is what was found instead."""


@dataclass(frozen=True)
class Finding:
    """The result of a row, and its proof."""

    result: Result
    proof: str


@dataclass(frozen=True)
class Way:
    """What proofs read: the cloud, its clusters, and the output of commands."""

    azure: Azure
    runner: Runner
    # By resource group, once there are credentials.
    clusters: dict[str, Kubectl] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def cluster(self, group: str) -> Kubectl:
        """kubectl on the cluster of a group."""
        if group not in self.clusters:
            raise NotShownError(f"There are no credentials for the cluster in {group}.")
        return self.clusters[group]


# Returns the proof of a row, or raises NotShownError.
Proof = Callable[[Way], str]


@dataclass(frozen=True)
class Step:
    """A step of the article, and the numbers of the rows that can be proven after it."""

    do: Callable[[Way], None]
    shows: tuple[int, ...] = ()


def go(steps: Iterable[Step], way: Way, proofs: Mapping[int, Proof]) -> dict[int, Finding]:
    """Runs every step. If one fails, its rows are not ok, and the next step runs."""
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
        # A value that the proof reads is missing, or has another type.
        return Finding("not ok", f"A value that the proof needs cannot be read: {error!r}")
