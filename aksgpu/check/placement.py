"""Whether pods may go to a node: taints and tolerations, selectors and affinity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from catalogue.scheduling import BLOCKING, LABEL_TESTS


@dataclass(frozen=True)
class Taint:
    key: str
    value: str
    effect: str

    @property
    def blocks(self) -> bool:
        return self.effect in BLOCKING

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


@dataclass(frozen=True, kw_only=True)
class Toleration:
    """An empty key is any, and so is an empty effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def covers(self, taint: Taint) -> bool:
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        if self.operator == "Exists":
            return True
        return self.operator == "Equal" and bool(self.key) and self.value == taint.value


@dataclass(frozen=True)
class Requirement:
    """What a node's label has to be."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def is_met_by(self, labels: Mapping[str, str]) -> bool:
        test = LABEL_TESTS.get(self.operator)
        return test is not None and test(labels.get(self.key), self.values)

    def __str__(self) -> str:
        values = f" ({', '.join(self.values)})" if self.values else ""
        return f"{self.key} {self.operator}{values}"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where pods of one kind may go."""

    tolerations: tuple[Toleration, ...] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    # Terms, one of which has to be met in all its requirements; None: no such wish.
    affinity: tuple[tuple[Requirement, ...], ...] | None = None

    def untolerated(self, taints: Sequence[Taint]) -> list[Taint]:
        """Those that keep the pods away."""
        return [
            taint
            for taint in taints
            if taint.blocks and not any(own.covers(taint) for own in self.tolerations)
        ]

    def unmet_selector(self, labels: Mapping[str, str]) -> list[str]:
        return [
            f"{key}={value}" for key, value in self.selector.items() if labels.get(key) != value
        ]

    def unmet_affinity(self, labels: Mapping[str, str]) -> list[str]:
        """What the labels lack, of every term; nothing where one of the terms is met."""
        if self.affinity is None:
            return []
        unmet = [
            [str(one) for one in term if not one.is_met_by(labels)]
            for term in self.affinity
            if term
        ]
        if not unmet:
            return ["(no term at all)"]
        return [] if [] in unmet else [" and ".join(term) for term in unmet]
