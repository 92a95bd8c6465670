"""Which nodes can run a pod, by labels, names and taints, as kube-scheduler decides it.

`spec` is a pod spec, or its known part; only the properties that matter are read. A requirement
with another operator than In, NotIn, Exists and DoesNotExist matches no node.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from aks_catalogue.nodes import TAINT, TAINT_RULE
from aks_catalogue.shapes import mapping, mappings, sequence

Spec = Mapping[str, Any]
Toleration = dict[str, Any]

_NO_TERM = "(an affinity without terms)"


class Unknown(Enum):
    """A label or name that is not known before the node exists."""

    UNKNOWN = "unknown: matches every requirement"
    UNMET = "unknown: matches no requirement"


UNKNOWN: Final = Unknown.UNKNOWN
UNMET: Final = Unknown.UNMET
# Returns a node's label by its key; None if the node does not have the label.
LabelOf = Callable[[str], str | Unknown | None]


@dataclass(frozen=True)
class Taint:
    key: str
    value: str
    effect: str

    @classmethod
    def of(cls, taint: Mapping[str, Any]) -> "Taint":
        """Returns the taint of a node."""
        return cls(taint["key"], taint.get("value") or "", taint["effect"])

    @classmethod
    def parse(cls, text: str) -> "Taint":
        """Returns the taint of an agent pool, key=value:effect."""
        match = TAINT.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a valid taint: use {TAINT_RULE}")
        return cls(match["key"], match["value"] or "", match["effect"])

    @property
    def blocks(self) -> bool:
        """Whether it prevents pods without a toleration from running on the node."""
        return self.effect in ("NoSchedule", "NoExecute")

    @property
    def toleration(self) -> dict[str, str]:
        """The toleration for only this taint."""
        match = {"operator": "Equal", "value": self.value} if self.value else {"operator": "Exists"}
        return {"key": self.key, **match, "effect": self.effect}

    def __str__(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"{self.key}{value}:{self.effect}"


def tolerations(
    taints: Iterable[str], standard: Iterable[Mapping[str, Any]] = ()
) -> list[Toleration]:
    """Returns the standard tolerations and those for the taints of pools, without duplicates."""
    given = [*map(dict, standard)]
    derived = (taint.toleration for taint in dict.fromkeys(map(Taint.parse, taints)))
    return [*given, *(toleration for toleration in derived if toleration not in given)]


def untolerated(spec: Spec, taints: Iterable[Taint]) -> list[Taint]:
    """Returns the taints that keep the pods off a node."""
    return [
        taint
        for taint in taints
        if taint.blocks
        and not any(
            _tolerates(toleration, taint) for toleration in mappings(spec.get("tolerations"))
        )
    ]


def selects(spec: Spec, label_of: LabelOf, name: str | Unknown = UNKNOWN) -> bool:
    """Whether a node can match the pods' node selector and required node affinity."""
    if any(unmet_selector(spec, label_of)):
        return False
    terms = affinity_terms(spec)
    return terms is None or any(not any(_unmet(term, label_of, name)) for term in terms)


def unmet_selector(spec: Spec, label_of: LabelOf) -> Iterator[str]:
    """Yields the labels of the node selector that the node does not have."""
    selector = mapping(spec.get("nodeSelector"))
    for key in selector:
        label = label_of(key)
        if label is not UNKNOWN and label != str(selector[key]):
            yield f"{key}={selector[key]}"


def unmet_affinity(spec: Spec, label_of: LabelOf, name: str | Unknown = UNKNOWN) -> list[str]:
    """Returns the unmet requirements of each term; empty if the affinity matches the node."""
    terms = affinity_terms(spec)
    if terms is None or selects({"affinity": spec.get("affinity")}, label_of, name):
        return []
    unmet = [" and ".join(_unmet(term, label_of, name)) for term in terms]
    return [text for text in unmet if text != _NO_TERM] or [_NO_TERM]


def affinity_terms(spec: Spec) -> Sequence[Mapping[str, Any]] | None:
    """Returns the terms of the required node affinity, of which one must match; None without it."""
    nodes = mapping(mapping(spec.get("affinity")).get("nodeAffinity"))
    required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return None
    return [*map(mapping, sequence(mapping(required).get("nodeSelectorTerms")))]


def selected_labels(spec: Spec) -> Iterator[tuple[str, list[str]]]:
    """Yields the labels in the pods' node selector and node affinity, with the named values."""
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
    requirement: Mapping[str, Any], value: str | Unknown | None, tests: Mapping[str, _Test]
) -> bool:
    test = tests.get(str(requirement.get("operator")))
    if test is None or isinstance(value, Unknown):
        return test is not None and value is not UNMET
    return test(value, [*map(str, sequence(requirement.get("values")))])


def _written(requirement: Mapping[str, Any]) -> str:
    values = ", ".join(map(str, sequence(requirement.get("values"))))
    text = f"{requirement.get('key')} {requirement.get('operator')}"
    return f"{text} ({values})" if values else text


# By operator. The arguments are a label's value, None without the label, and the named values.
_TESTS: Mapping[str, _Test] = MappingProxyType(
    {
        "In": lambda value, values: value in values,
        "NotIn": lambda value, values: bool(values) and value not in values,
        "Exists": lambda value, values: value is not None and not values,
        "DoesNotExist": lambda value, values: value is None and not values,
    }
)
_FIELD_TESTS = MappingProxyType({name: _TESTS[name] for name in ("In", "NotIn")})
