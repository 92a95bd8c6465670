"""Compares a proof on Azure with the same steps in the rehearsal: what Azure did otherwise."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console

from aksgpu.outcome import Cause, stopped
from aksgpu.preflight.price_list import VARIABLE as PRICE_LIST_VARIABLE
from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.report import print_result, table
from aksgpu.running import Program
from azure_proof.choice import Choice
from machine_setup import ensure_kubernetes
from machine_setup.progress import Progress, to_stderr
from rehearsal.cloud import removed_afterwards
from rehearsal.cloud import start as start_cloud

# A day of AKS in some minutes.
TIME_SCALE = 0.005
_ABSENT = "absent"


@dataclass(frozen=True)
class Difference:
    step: str
    what: str
    azure: str
    rehearsal: str


def compare(file: Path, console: Console) -> int:
    """Replays the proof in a file, and prints the differences; the exit code."""
    azure = _read(file)
    with tempfile.TemporaryDirectory(prefix="azure-compare-") as folder:
        differing = list(differences(azure, replay(azure, Path(folder))))
    shown = table("step", "what", "on Azure", "in the rehearsal")
    for each in differing:
        shown.add_row(each.step, each.what, each.azure, each.rehearsal)
    console.print(shown)
    cause = Cause.DIFFERS if differing else Cause.FINE
    print_result(cause, console)
    return cause.exit_code


def replay(azure: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The evidence of the same steps, with the same size and region, on a rehearsal cloud."""
    kubernetes = ensure_kubernetes(to_stderr).folder
    home = folder / "cloud"
    command = (sys.executable, "-m", "azure_proof", "prove", "--yes", "--folder", str(folder))
    choice = Choice(**azure["choice"])
    chosen = ("--location", choice.location, "--size", choice.size)
    limit = {"name": choice.quota, "location": choice.location, "limit": choice.room}
    extra = [part for name in azure["extra"] for part in ("--with", name)]
    with removed_afterwards(home), Progress("Replaying the proof, some minutes", to_stderr):
        cloud = start_cloud(home, TIME_SCALE, kubernetes=kubernetes)
        cloud.offer({"limits": [limit]})
        path = os.pathsep.join([str(kubernetes), cloud.on_path(os.environ["PATH"])])
        prices = {PRICE_LIST_VARIABLE: f"{cloud.url}/api/retail/prices"}
        program = Program(
            command, PROGRAM / "tools", {**cloud.environment(), **prices, "PATH": path}
        )
        ended = program.attempt(*chosen, *extra)
    evidence = folder / "evidence.json"
    if not evidence.exists():
        # Its exit code is not 0 either if only a step was otherwise.
        ended.succeeded()
    return _read(evidence)


def differences(azure: Mapping[str, Any], rehearsed: Mapping[str, Any]) -> Iterator[Difference]:
    by_name = {step["name"]: step for step in rehearsed["steps"]}
    for step in azure["steps"]:
        other = by_name.get(step["name"])
        if other is None:
            yield Difference(step["title"], "the step", "done", _ABSENT)
            continue
        for what in ("expected", "actual"):
            if step[what] != other[what]:
                yield Difference(step["title"], what, step[what], other[what])
        yield from _of_exchanges(step["title"], step["exchanges"], other["exchanges"])


def _of_exchanges(
    step: str, azure: Sequence[Mapping[str, Any]], rehearsed: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    for number, (one, other) in enumerate(zip_longest(azure, rehearsed), start=1):
        what = f"{(one or other or {})['of']}, exchange {number}"
        if one is None or other is None:
            yield Difference(
                step, what, *(_ABSENT if it is None else "sent" for it in (one, other))
            )
            continue
        on_azure, here = _flat(one), _flat(other)
        for path in sorted(on_azure.keys() | here.keys()):
            values = _shown(on_azure, path), _shown(here, path)
            if values[0] != values[1]:
                yield Difference(step, f"{what}: {path}", *values)


def _flat(exchange: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent and answered, each part by its name or path."""
    answered = {row["path"]: row["value"] for row in exchange.get("asked", ())}
    return {key: value for key, value in exchange.items() if key != "asked"} | answered


def _shown(values: Mapping[str, Any], path: str) -> str:
    return json.dumps(values[path], sort_keys=True) if path in values else _ABSENT


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if isinstance(content, dict) and {"steps", "choice", "extra"} <= content.keys():
        return content
    raise stopped(
        Cause.STACK_MISSING,
        f"{file} is not the evidence of a proof",
        "name the evidence.json that `make azure-proof` has written",
    )
