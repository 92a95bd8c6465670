"""Whether a pod could be placed on a node, as far as the autoscaler has to know."""

import re
from dataclasses import dataclass, field
from typing import Any

from catalogue.scheduling import BLOCKING, LABEL_TESTS

Json = dict[str, Any]

# How often a unit goes into one thousandth, which is what quantities are counted in here.
UNITS = {
    "m": 1,
    "": 1000,
    "k": 1000**2,
    "M": 1000**3,
    "G": 1000**4,
    "T": 1000**5,
    "Ki": 1000 << 10,
    "Mi": 1000 << 20,
    "Gi": 1000 << 30,
    "Ti": 1000 << 40,
}
QUANTITY = re.compile(r"(?P<number>[0-9.]+)(?P<unit>[A-Za-z]*)")


@dataclass(frozen=True)
class Demand:
    """Amounts of resources: what a pod asks for, or what a node has left."""

    amounts: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of_node(node: Json) -> "Demand":
        allocatable = node["status"]["allocatable"]
        return Demand({name: amount(value) for name, value in allocatable.items()})

    def within(self, room: "Demand") -> bool:
        return all(room.amounts.get(name, 0) >= wish for name, wish in self.amounts.items())

    def without(self, other: "Demand") -> "Demand":
        return Demand(
            {name: held - other.amounts.get(name, 0) for name, held in self.amounts.items()}
        )


def demand(pod: Json) -> Demand:
    """What a pod asks for: its containers together."""
    amounts = {"pods": UNITS[""]}
    for container in pod["spec"]["containers"]:
        resources = container.get("resources", {})
        wishes = {**resources.get("limits", {}), **resources.get("requests", {})}
        for name, value in wishes.items():
            amounts[name] = amounts.get(name, 0) + amount(value)
    return Demand(amounts)


def amount(text: str) -> int:
    found = QUANTITY.fullmatch(text)
    if found is None or found["unit"] not in UNITS:
        raise ValueError(f"{text!r} is no quantity")
    return int(float(found["number"]) * UNITS[found["unit"]])


def fits(pod: Json, node: Json) -> bool:
    """Whether the node's labels and taints admit the pod."""
    spec = pod["spec"]
    labels: dict[str, str] = node["metadata"]["labels"]
    selector: dict[str, str] = spec.get("nodeSelector", {})
    selected = all(labels.get(key) == value for key, value in selector.items())
    tolerations = spec.get("tolerations", ())
    tolerated = all(
        any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in node["spec"].get("taints", ())
        if taint["effect"] in BLOCKING
    )
    return selected and tolerated and _has_affinity(spec, labels)


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = toleration.get("value", "") == taint.get("value", "")
    return bool(toleration.get("key") == taint["key"] and same_value)


def _has_affinity(spec: Json, labels: dict[str, str]) -> bool:
    required = (
        (spec.get("affinity") or {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution")
    )
    if not required:
        return True
    return any(
        all(_matches(wish, labels) for wish in term.get("matchExpressions", ()))
        for term in required["nodeSelectorTerms"]
    )


def _matches(wish: Json, labels: dict[str, str]) -> bool:
    return LABEL_TESTS[wish["operator"]](labels.get(wish["key"]), wish.get("values") or ())
