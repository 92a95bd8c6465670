"""Where the proof runs: the first region in which Azure accepts the smallest GPU size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aks_catalogue.sizes import gpu_sizes
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.preflight import preflight
from aksgpu.preflight.access import Access
from aksgpu.preflight.preflight import Preflight
from azure_proof.stack import POOL, STACK, as_config
from machine_setup.cache import Say
from stack_settings.reading import load
from stack_settings.stack_file import as_engine_config

# Regions with many GPU sizes, in the order in which they are asked.
REGIONS = ("eastus", "eastus2", "southcentralus", "westus3", "westeurope", "swedencentral")
_SIZES = 3
# A rotation has the old node and the new one at the same time.
MOST_NODES = 2


@dataclass(frozen=True)
class Choice:
    location: str
    size: str
    # The quota of the size, and how many vCPUs it has room for, once Azure was asked.
    quota: str = ""
    room: int = 0

    @property
    def too_many(self) -> int:
        """More nodes than the quota has room for."""
        return self.room // gpu_sizes()[self.size.lower()].vcpus + 1


def choose(
    access: Access, settings: Mapping[str, Any], wanted: Sequence[Choice], say: Say
) -> tuple[Choice, Preflight]:
    """The first choice that Azure would accept, and what it said about it.

    Raises StoppedError with what to ask Azure for.
    """
    problems: list[Finding] = []
    for choice in wanted:
        result = _asked(access, settings, choice, say)
        if not result.verdict.is_problem:
            return _with_room(choice, result), result
        where = f"{choice.size} in {choice.location}"
        rows = [row for row in result.rows if row.cause is not None]
        problems += [
            Finding(row.cause, f"{where}: {row.what}", row.advice) for row in rows if row.cause
        ]
        if result.verdict in (Cause.CREDENTIALS_REFUSED, Cause.AZURE_UNREACHABLE):
            break
    raise StoppedError(*problems)


def _with_room(choice: Choice, result: Preflight) -> Choice:
    (row,) = (row for row in result.rows if row.question == "quota" and row.pool == POOL)
    room = row.figures["limit"] - row.figures["used"]
    return replace(choice, quota=row.figures["quota"], room=room)


def choices(regions: Sequence[str], size: str) -> Iterator[Choice]:
    """What is tried, the smallest sizes first: AKS has a driver for each."""
    usable = (size for size in gpu_sizes().values() if size.is_nvidia and size.aks_driver)
    current = (size for size in usable if size.retired_on is None)
    smallest = sorted(current, key=lambda each: (each.vcpus, each.name))[:_SIZES]
    for name in [size] if size else [each.name for each in smallest]:
        yield from (Choice(region, name) for region in regions)


def _asked(access: Access, settings: Mapping[str, Any], choice: Choice, say: Say) -> Preflight:
    """The preflight of a stack with as many nodes as the proof ever has at a time."""
    (pool,) = settings["gpuPools"]
    pool = {**pool, "vmSize": choice.size, "maxCount": MOST_NODES}
    pool |= {"maxSurge": "0", "maxUnavailable": "1"}
    content = {**settings, "location": choice.location, "gpuPools": [pool]}
    planned = load(as_engine_config(as_config(content)), STACK, lambda _: None)
    return preflight.run(STACK, planned, access, frozenset, say)
