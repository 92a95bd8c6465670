"""What of deployed stacks retires when: sizes, Kubernetes versions, node images, API versions."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from aks_catalogue import kubernetes, retirement
from aks_catalogue.shapes import at, mapping, mappings
from aks_catalogue.sizes import find, gpu_sizes
from aksgpu.audit.stacks import Audited, Json
from aksgpu.review.pools import Cluster, cluster_of

_PREVIEW = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)-preview")
_INLINE = "inputs.agentPoolProfiles"


@dataclass(frozen=True, order=True)
class Retirement:
    """What ends, when, and where it is used."""

    day: date
    what: str
    stack: str
    resource: str


def retirements(stacks: Iterable[Audited]) -> list[Retirement]:
    """The retirements of all stacks, the first one first; each once for a resource."""
    return sorted(
        {
            Retirement(day, what, stack.name, str(one.get("urn")).rpartition("::")[2])
            for stack in stacks
            for lasting in [_lasting(stack)]
            for one in stack.resources
            if ":containerservice" in str(one.get("type"))
            for day, what in _of_resource(one, lasting)
        }
    )


def _lasting(stack: Audited) -> set[Cluster | None]:
    """The clusters with long-term support. Separate pools do not have their cluster's plan."""
    every = (mapping(one.get("inputs")) for one in stack.resources)
    return {cluster_of(one) for one in every if one.get("supportPlan") == kubernetes.LONG_TERM}


def _of_resource(one: Json, lasting: set[Cluster | None]) -> Iterator[tuple[date, str]]:
    lasts = cluster_of(mapping(one.get("inputs"))) in lasting
    # The cluster's own version, where the program leaves it to AKS.
    yield from _of_version(at(one, "outputs.currentKubernetesVersion"), long_term=lasts)
    for whole in (one.get("inputs"), *mappings(at(one, _INLINE))):
        size = find(str(at(whole, "vmSize")))
        of_gpus = gpu_sizes().get(size.name.lower()) if size else None
        if of_gpus and of_gpus.retired_on:
            yield of_gpus.retired_on, f"VM size {of_gpus.name}"
        image = str(at(whole, "osSKU"))
        if image in retirement.IMAGES:
            yield retirement.IMAGES[image], f"node image {image}"
        yield from _of_version(at(whole, "orchestratorVersion"), long_term=lasts)
    used = str(at(one, "outputs.azureApiVersion") or at(one, "inputs.azureApiVersion") or "")
    if match := _PREVIEW.fullmatch(used):
        with suppress(OverflowError, ValueError):
            ends = date.fromisoformat(match["day"]) + retirement.PREVIEW_API
            yield ends, f"AKS API version {used}"


def _of_version(text: Any, *, long_term: bool) -> Iterator[tuple[date, str]]:
    version = kubernetes.minor_version(str(text))
    if version is None:
        return
    known = kubernetes.ON_AKS.get(kubernetes.written(version))
    if known and (ends := known.long_term_ends if long_term else known.ends):
        yield ends, f"Kubernetes {kubernetes.written(version)}"
