"""Which nodes pods may go to, as kube-scheduler decides it: by labels, by names and by taints.

`spec` is the specification of pods, or what is known of it; it is read only as far as it decides.
What the API server refuses (an unknown operator, a bound that is no number) admits no node.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from catalogue.nodes import TAINT, TAINT_RULE
from catalogue.shapes import mapping, mappings, sequence

Spec = Mapping[str, Any]

_NO_TERM = "(no term at all)"
_NUMBER = re.compile(r"[+-]?[0-9]+")


class Unknown(Enum):
    """What nobody can know of a node yet: it meets all that is asked of it, or nothing."""

    UNKNOWN = "unknown"
    UNMET = "unknown, and taken for unmet"


UNKNOWN: Final = Unknown.UNKNOWN
UNMET: Final = Unknown.UNMET
# A node's label by its key; None where the node has none.
LabelOf = Callable[[str], str | Unknown | None]


@dataclass(frozen=True)
class Taint:
    key: str
    value: str
    effect: str

    @classmethod
    def of(cls, taint: Mapping[str, Any]) -> "Taint":
        """A taint as a node has it."""
        return cls(taint["key"], taint.get("value") or "", taint["effect"])

    @classmethod
    def parse(cls, text: str) -> "Taint":
        """A taint as an agent pool has it, key=value:effect."""
        found = TAINT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no taint: {TAINT_RULE}")
        return cls(found["key"], found["value"] or "", found["effect"])

    @property
    def blocks(self) -> bool:
        """Whether it keeps away pods that do not tolerate it."""
        return self.effect in ("NoSchedule", "NoExecute")

    @property
    def toleration(self) -> dict[str, str]:
        """What tolerates this taint and no other."""
        asked = {"operator": "Equal", "value": self.value} if self.value else {"operator": "Exists"}
        return {"key": self.key, **asked, "effect": self.effect}

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


def untolerated(spec: Spec, taints: Iterable[Taint]) -> list[Taint]:
    """The taints that keep the pods away."""
    return [
        taint
        for taint in taints
        if taint.blocks
        and not any(
            _tolerates(toleration, taint) for toleration in mappings(spec.get("tolerations"))
        )
    ]


def selects(spec: Spec, label_of: LabelOf, name: str | Unknown = UNKNOWN) -> bool:
    """Whether a node can be what the pods' selector and required node affinity ask for."""
    if any(unmet_selector(spec, label_of)):
        return False
    terms = affinity_terms(spec)
    return terms is None or any(not any(_unmet(term, label_of, name)) for term in terms)


def unmet_selector(spec: Spec, label_of: LabelOf) -> Iterator[str]:
    """What the selector asks for and the node does not have."""
    selector = mapping(spec.get("nodeSelector"))
    for key in selector:
        label = label_of(key)
        if label is not UNKNOWN and label != str(selector[key]):
            yield f"{key}={selector[key]}"


def unmet_affinity(spec: Spec, label_of: LabelOf, name: str | Unknown = UNKNOWN) -> list[str]:
    """What the node lacks of every term; empty where the affinity admits the node."""
    terms = affinity_terms(spec)
    if terms is None or selects({"affinity": spec.get("affinity")}, label_of, name):
        return []
    unmet = [" and ".join(_unmet(term, label_of, name)) for term in terms]
    return [text for text in unmet if text != _NO_TERM] or [_NO_TERM]


def affinity_terms(spec: Spec) -> Sequence[Mapping[str, Any]] | None:
    """The terms of the required node affinity, of which one has to be met; None without any."""
    nodes = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return None
    return [*map(mapping, sequence(mapping(required).get("nodeSelectorTerms")))]


def asked_labels(spec: Spec) -> Iterator[tuple[str, list[str]]]:
    """The labels that the pods' selector and affinity ask for, each with the values they name."""
    selector = mapping(spec.get("nodeSelector"))
    yield from ((key, [str(selector[key])]) for key in selector)
    for term in affinity_terms(spec) or ():
        for expression in mappings(term.get("matchExpressions")):
            yield str(expression.get("key")), [*map(str, sequence(expression.get("values")))]


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    key, value = toleration.get("key"), str(toleration.get("value") or "")
    if toleration.get("effect") not in (None, "", taint.effect) or key not in (None, "", taint.key):
        return False
    if toleration.get("operator") == "Exists":
        return not value
    return toleration.get("operator") in (None, "", "Equal") and bool(key) and value == taint.value


def _unmet(term: Mapping[str, Any], label_of: LabelOf, name: str | Unknown) -> Iterator[str]:
    expressions = [*map(mapping, sequence(term.get("matchExpressions")))]
    fields = [*map(mapping, sequence(term.get("matchFields")))]
    if not expressions and not fields:
        yield _NO_TERM
    for expression in expressions:
        if not _is_met(expression, label_of(str(expression.get("key"))), _TESTS):
            yield _written(expression)
    for field in fields:
        is_name = field.get("key") == "metadata.name" and len(sequence(field.get("values"))) == 1
        if not is_name or not _is_met(field, name, _FIELD_TESTS):
            yield _written(field)


_Test = Callable[[str | None, Sequence[str]], bool]


def _is_met(
    asked: Mapping[str, Any], value: str | Unknown | None, tests: Mapping[str, _Test]
) -> bool:
    test = tests.get(str(asked.get("operator")))
    if test is None or isinstance(value, Unknown):
        return test is not None and value is not UNMET
    return test(value, [*map(str, sequence(asked.get("values")))])


def _written(asked: Mapping[str, Any]) -> str:
    values = ", ".join(map(str, sequence(asked.get("values"))))
    return f"{asked.get('key')} {asked.get('operator')}" + (f" ({values})" if values else "")


def _compared(holds: Callable[[int, int], bool], value: str | None, values: Sequence[str]) -> bool:
    numbers = [value or "", *values]
    return len(numbers) == 2 and all(map(_NUMBER.fullmatch, numbers)) and holds(*map(int, numbers))


# By operator: a label's value, None where there is no such label, and the values asked for.
_TESTS: Mapping[str, _Test] = MappingProxyType(
    {
        "In": lambda value, values: value in values,
        "NotIn": lambda value, values: bool(values) and value not in values,
        "Exists": lambda value, values: value is not None and not values,
        "DoesNotExist": lambda value, values: value is None and not values,
        "Gt": partial(_compared, operator.gt),
        "Lt": partial(_compared, operator.lt),
    }
)
_FIELD_TESTS = MappingProxyType({name: _TESTS[name] for name in ("In", "NotIn")})
