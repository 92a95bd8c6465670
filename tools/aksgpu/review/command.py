"""The command review: its options, its reports, and the exit code."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import typer
from rich.console import Console
from rich.text import Text

from aksgpu.report import ReportConsole, print_result
from aksgpu.review.git import is_commit
from aksgpu.review.markdown import as_markdown, for_terminal
from aksgpu.review.model import Review, as_json
from aksgpu.review.reviewing import ReviewOptions, review_stacks
from aksgpu.stack_names import short_name
from machine_setup.progress import to_stderr

# Instead of a file: prints this format instead of the report for terminals.
STDOUT = Path("-")
FORMATS: Mapping[str, Callable[[Review], str]] = MappingProxyType(
    {"markdown": as_markdown, "json": as_json}
)


def review(options: ReviewOptions, files: Mapping[str, Path | None]) -> int:
    """Reviews stacks and writes reports; the exit code. `files` has a file for each format.

    Raises BadParameter for invalid options, before the review starts.
    """
    outputs = {name: file for name, file in files.items() if file is not None}
    _check(options, outputs)
    result = review_stacks(options, to_stderr)
    # All reports are written, also if the review failed.
    for name, file in outputs.items():
        if file != STDOUT:
            file.write_text(FORMATS[name](result), encoding="utf-8")
    printed = [name for name, file in outputs.items() if file == STDOUT]
    if printed:
        sys.stdout.write(FORMATS[printed[0]](result))
    else:
        print_report(result, ReportConsole())
    return result.verdict.exit_code


def print_report(review: Review, console: Console) -> None:
    console.print(Text(for_terminal(review)), soft_wrap=True)
    console.print(Text(f"Reviewed {review.setting}."), soft_wrap=True)
    print_result(review.verdict, console, review.cloud)


def _check(options: ReviewOptions, files: Mapping[str, Path]) -> None:
    if not (options.project / "Pulumi.yaml").exists():
        raise typer.BadParameter(f"There is no Pulumi.yaml in {options.project}.")
    if options.base and not is_commit(options.project, options.base):
        raise typer.BadParameter(
            f"git has no commit {options.base!r} in {options.project}. In CI, fetch it first "
            "(fetch-depth: 0)."
        )
    reviewed = {short_name(stack) for stack in options.stacks}
    for allowance in options.allowed:
        if allowance.stack not in reviewed:
            raise typer.BadParameter(f"--allow {allowance}: this stack is not reviewed.")
    if len(set(files.values())) < len(files):
        raise typer.BadParameter("Two formats cannot go to the same place.")
    for file in files.values():
        if file != STDOUT and (file.is_dir() or not file.resolve().parent.is_dir()):
            raise typer.BadParameter(f"{file} cannot be written: its folder does not exist.")
