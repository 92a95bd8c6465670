"""The report for a terminal."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from aksgpu.preflight.preflight import Preflight
from aksgpu.report import finding_text, print_result, table
from aksgpu.review import wording
from aksgpu.review.model import CHANGE_KINDS, CHANGE_WORDS, Review, StackReview

_BAD, _WARNING, _STRONG, _DIM = "bold red", "bold yellow", "bold", "dim"


def print_report(review: Review, console: Console) -> None:
    for stack in review.stacks:
        _print_stack(stack, review.cloud, console)
    console.print(Text(f"Reviewed {review.setting}."), soft_wrap=True)
    print_result(review.verdict, console, review.cloud)


def _print_stack(stack: StackReview, cloud: str, console: Console) -> None:
    title = Text(f"The stack {stack.stack} on {cloud}", _STRONG).append(f" ({stack.file})", _DIM)
    console.print(title, soft_wrap=True)
    for note in stack.notes:
        _print(console, Text(note), 2)
    for problem in stack.problems:
        _print(console, finding_text(problem), 2)
    if stack.judging and stack.judging.brought:
        _heading(console, f"{wording.BROUGHT}. {stack.judging.result}")
        for brought in stack.judging.brought:
            _print(console, Text(wording.change_in_words(brought)), 2)
    if stack.lost:
        _heading(console, wording.LOST)
    for lost in stack.lost:
        style = _STRONG if lost.allowed else _BAD
        _print_entry(console, Text(lost.message, style), f"-> {lost.remedy}")
    _print_findings(stack, console)
    if stack.preflight:
        _print_preflight(stack.preflight, console)
    _print_gpus(stack, console)
    if stack.costs:
        _print(console, Text(wording.costs_in_words(stack.costs)), 2)
    _print_changes(stack, console)
    console.print()


def _print_findings(stack: StackReview, console: Console) -> None:
    if stack.findings:
        _heading(console, "Findings")
    for finding, places in wording.grouped(stack.findings):
        style = _BAD if finding.mandatory else _WARNING
        line = Text(f"[{wording.grade(finding)}] {finding.rule}: ", style).append(places, _STRONG)
        advice = [f"-> {text}" for text in (finding.remedy, finding.url) if text]
        _print_entry(console, line, finding.message, *advice)
    if stack.not_run:
        _heading(console, f"{wording.NOT_RUN}: {wording.NOT_RUN_MEANING}")
    for rule in stack.not_run:
        line = Text(f"{rule.rule}: ", _BAD).append(wording.where(rule.resource), _STRONG)
        _print_entry(console, line, rule.why)


def _print_preflight(preflight: Preflight, console: Console) -> None:
    _heading(console, wording.preflight_result(preflight))
    for row in wording.preflight_rows(preflight):
        line = Text(f"{wording.asked_about(row)}: ", _BAD if row.cause else _WARNING)
        _print_entry(console, line.append(row.what), *([f"-> {row.advice}"] if row.advice else []))


def _print_gpus(stack: StackReview, console: Console) -> None:
    _heading(console, "GPUs, from the fewest to the most nodes")
    if not stack.gpus:
        _print(console, Text(wording.GPUS_NOT_KNOWN if stack.gpus is None else wording.NO_GPUS), 2)
        return
    gpus = table(*wording.GPU_HEADINGS)
    for row in wording.gpu_rows(stack.gpus):
        gpus.add_row(*row)
    console.print(Padding(gpus, (0, 0, 0, 2), expand=False))


def _print_changes(stack: StackReview, console: Console) -> None:
    _heading(console, f"Changes: {wording.changes_in_words(stack)}")
    for kind in CHANGE_KINDS:
        for change in stack.changes:
            if change.kind == kind:
                line = Text(f"{CHANGE_WORDS[kind]:<9} {wording.where(change.resource)}")
                if change.properties and kind != "create":
                    line.append(f": {', '.join(change.properties)}", _DIM)
                _print(console, line, 2)


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", _STRONG), soft_wrap=True)


def _print_entry(console: Console, head: Text, *more: str) -> None:
    _print(console, head, 2)
    for text in more:
        _print(console, Text(text), 4)


def _print(console: Console, what: Text, indent: int) -> None:
    """Prints lines unbroken: only the terminal wraps them, so that copied text stays whole."""
    for line in what.split():
        console.print(Text(" " * indent).append_text(line), soft_wrap=True)
