"""Runs the steps of a proof, and goes on where an earlier run stopped."""

import secrets
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import typer
from azure.core.exceptions import AzureError
from rich.console import Console
from rich.text import Text

from aks_catalogue.today import today
from aksgpu.outcome import Cause, StoppedError, stopped
from aksgpu.preflight.costs import Costs
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.queries import why
from aksgpu.report import print_next, print_result, table
from aksgpu.running import ProgramError
from azure_proof import evidence, removal
from azure_proof.azure import access, signed_in
from azure_proof.choice import MOST_NODES, Choice, choices, choose
from azure_proof.evidence import Mask, StepResult
from azure_proof.removal import RECORD
from azure_proof.stack import ProofStack, dev_settings
from azure_proof.steps import NEEDED, STEPS, Proof, Step
from machine_setup import Engine, ensure_engine
from machine_setup.progress import Progress, to_stderr
from rehearsal.files import read_json, write_json
from stack_settings.pools import SystemPool

# A step that needs a new node takes a quarter of an hour; less is not enough for any.
_LEAST_LEFT = timedelta(minutes=10)
# The folder of the proof's project and its state.
STATE = "stack"
AGAIN, CLEAN = "make azure-proof", "make azure-clean"


@dataclass(frozen=True, kw_only=True)
class Options:
    folder: Path
    hours: float
    regions: Sequence[str]
    # Empty: the smallest that can be used.
    size: str
    extra: Collection[str]
    yes: bool


def prove(options: Options, console: Console) -> int:
    """Runs what is left of the proof in a folder; the exit code."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise stopped(Cause.PROGRAM_FAILED, "kubectl is not on PATH", "run `az aks install-cli`")
    options.folder.mkdir(parents=True, exist_ok=True)
    engine = ensure_engine(to_stderr)
    record = read_json(options.folder / RECORD) or _begin(options, console)
    if record is None:
        return Cause.INTERRUPTED.exit_code
    with signed_in() as arm:
        if datetime.fromisoformat(record["deadline"]) <= datetime.now(UTC):
            removal.remove(arm, options.folder, record["name"])
            raise stopped(Cause.TIMEOUT, "the last proof's time is over", "run this again")
        removal.start(options.folder)
        stack = ProofStack(engine, options.folder / STATE)
        proof = Proof(
            Choice(**record["choice"]),
            record["name"],
            record["deadline"],
            arm,
            stack,
            Path(kubectl),
        )
        _take_up(proof, record, options.folder)
        run = _Run(proof, record, options.folder, engine)
        try:
            return run.to_the_end(console)
        except AzureError as error:
            raise stopped(
                Cause.AZURE_UNREACHABLE, why(error).reason, f"`{AGAIN}` goes on"
            ) from None
        except KeyboardInterrupt:
            console.print(f"All is removed by {record['deadline']} at the latest.", markup=False)
            print_next("Next:   go on, or remove all now", [AGAIN, CLEAN], console)
            raise


def _begin(options: Options, console: Console) -> dict[str, Any] | None:
    """Chooses where to run, says what that costs, and asks; the new record."""
    here = access()
    settings = {**dev_settings(), "resourceGroup": {"name": "aks-gpu-proof"}}
    with Progress("Choosing a region and a size", to_stderr) as progress:
        wanted = list(choices(options.regions, options.size))
        choice, asked = choose(here, settings, wanted, progress.update)
    deadline = datetime.now(UTC) + timedelta(hours=options.hours)
    name = f"aks-gpu-proof-{secrets.token_hex(3)}"
    for line in _announced(choice, asked.costs, name, deadline, options):
        console.print(Text(line), soft_wrap=True)
    if not (options.yes or typer.confirm(f"Create this on {here.cloud}?")):
        console.print("Nothing was created.")
        return None
    record = {
        "name": name,
        "deadline": deadline.isoformat(timespec="seconds"),
        "choice": asdict(choice),
        "extra": sorted(options.extra),
        "cloud": here.cloud,
        "steps": [],
    }
    # A state of an earlier proof knows nothing of this one's group.
    shutil.rmtree(options.folder / STATE, ignore_errors=True)
    write_json(options.folder / RECORD, record, 0o600)
    return record


def _announced(
    choice: Choice, costs: Costs | None, name: str, deadline: datetime, options: Options
) -> Iterator[str]:
    size = SystemPool.vm_size
    yield f"The proof creates the resource group {name} in {choice.location}, and in it:"
    yield f"  an AKS cluster (control plane: Free) with one node of {size}"
    yield f"  up to {MOST_NODES} nodes of {choice.size}; with --with, more"
    yield f"It takes an hour or two. All is removed by {deadline:%Y-%m-%d %H:%M} UTC at the latest."
    if costs is None or isinstance(costs.prices, Unanswered) or costs.hourly is None:
        yield "The price is not known: look it up in Azure's price list."
        return
    most, currency = costs.hourly.most, costs.prices.currency
    yield (
        f"By {costs.prices.name}, the nodes cost at most {most:.2f} {currency} an hour: "
        f"{most * Decimal(options.hours):.2f} {currency} until then. Disks and traffic are extra."
    )


def _take_up(proof: Proof, record: dict[str, Any], folder: Path) -> None:
    """Begins the stack, or takes it up again after a kill."""
    proof.stack.begin()
    proof.stack.await_the_last_update()
    if proof.stack.pending():
        to_stderr(
            "An update was killed: the resource group is deleted, and the proof begins again."
        )
        proof.arm.remove_group(proof.name)
        shutil.rmtree(proof.stack.home)
        record["steps"] = []
        write_json(folder / RECORD, record, 0o600)
        proof.stack.begin()


@dataclass
class _Run:
    proof: Proof
    record: dict[str, Any]
    folder: Path
    engine: Engine

    @property
    def mask(self) -> Mask:
        clients = self.proof.arm.clients
        return Mask(clients.subscription, self.proof.name, self.proof.deadline)

    def to_the_end(self, console: Console) -> int:
        results = [StepResult(**done) for done in self.record["steps"]]
        # What failed before anything could be tried is tried again.
        results = [each for each in results if each.is_as_expected or each.name != NEEDED]
        done = {result.name for result in results}
        is_late = False
        for step in STEPS:
            if step.name in done or not self._is_wanted(step):
                continue
            if self._is_late() and step is not STEPS[-1]:
                is_late = True
                continue
            results.append(result := self._result(step))
            self._keep(results)
            if step.name == NEEDED and not result.is_as_expected:
                _show(results, console)
                raise stopped(
                    Cause.UPDATE_FAILED,
                    f"{step.title}: {result.actual}",
                    f"`{AGAIN}` tries it again; `{CLEAN}` removes what was created",
                )
        evidence_file, page = self._keep(results)
        removal.remove(self.proof.arm, self.folder, self.proof.name)
        _show(results, console)
        return _verdict(results, console, evidence_file, page, is_late=is_late)

    def _is_wanted(self, step: Step) -> bool:
        return not step.is_extra or step.name in self.record["extra"]

    def _is_late(self) -> bool:
        left = datetime.fromisoformat(self.record["deadline"]) - datetime.now(UTC)
        return left < _LEAST_LEFT

    def _result(self, step: Step) -> StepResult:
        began, kept = time.monotonic(), len(self.proof.arm.exchanges)
        with Progress(f"{step.title}", to_stderr):
            try:
                outcome = step.do(self.proof)
                expected, actual = outcome.expected, outcome.actual
            except (ProgramError, StoppedError) as error:
                expected, actual = "it can be done", f"failed: {error}"
        refusals, self.proof.refusals = self.proof.refusals, []
        exchanges = self.proof.arm.exchanges[kept:]
        return StepResult(
            step.name,
            step.title,
            expected,
            self.mask.message(actual) if actual != expected else actual,
            time.monotonic() - began,
            [self.mask.exchange(exchange) for exchange in exchanges],
            [self.mask.message(refusal) for refusal in refusals],
        )

    def _keep(self, results: Sequence[StepResult]) -> tuple[Path, Path]:
        """Writes what is known so far, so that a run can go on from here."""
        self.record["steps"] = [asdict(result) for result in results]
        write_json(self.folder / RECORD, self.record, 0o600)
        document = {
            "day": today().isoformat(),
            "cloud": self.record["cloud"],
            "choice": self.record["choice"],
            "extra": self.record["extra"],
            "versions": evidence.versions(self.engine.version),
            "steps": self.record["steps"],
        }
        return evidence.write(self.folder, document)


def _show(results: Sequence[StepResult], console: Console) -> None:
    shown = table("step", "expected", "actual", "took")
    for result in results:
        style = "green" if result.is_as_expected else "bold red"
        took = f"{result.seconds:.0f} s"
        shown.add_row(result.title, result.expected, Text(result.actual, style), took)
    console.print(shown)


def _verdict(
    results: Sequence[StepResult], console: Console, file: Path, page: Path, *, is_late: bool
) -> int:
    others = [result.title for result in results if not result.is_as_expected]
    cause = Cause.DIFFERS if others else Cause.TIMEOUT if is_late else Cause.FINE
    print_result(cause, console)
    console.print(Text(f"For people: {page}"), soft_wrap=True)
    print_next(
        "Next:   compare it with the rehearsal", [f"make azure-compare FILE={file}"], console
    )
    return cause.exit_code
