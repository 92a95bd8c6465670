"""What all commands print in the same way: results, findings, tables, JSON, and their failures."""

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from aks_catalogue.mistakes import Mistake
from aksgpu.control_characters import visible
from aksgpu.outcome import INTERRUPTION, Cause, Finding, StoppedError, listed, verdict
from aksgpu.running import ProgramError, terminated_as_interrupted
from machine_setup import EngineUnavailableError
from rehearsal.cloud import CloudError
from stack_settings.stack_file import EscEnvironmentError, NoStackFileError, StackFileError

_WITHOUT_END, _USUAL_WIDTH = 100_000, 80
_COMMAND = re.compile(r"`([^`]*)`")
# Such a command gets its own line, for copying.
_LONG = 50
# Between the columns of a table.
_GAP = 2
_FREE = "free some space on the disk, and run the command again"
_ALLOW = "make the file writable for your user, or remove it, and run the command again"
# What helps if the disk or the rights on it are the cause, by the number of the error.
_FILE_ADVICE: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOSPC: _FREE,
        errno.EDQUOT: _FREE,
        errno.EACCES: _ALLOW,
        errno.EROFS: _ALLOW,
    }
)
_TRY_AGAIN = "remove the cause that it names, and run the command again"
# The cause and advice for each kind of failure; the first match counts.
_FAILURES: Mapping[type[Exception], tuple[Cause, str]] = MappingProxyType(
    {
        EngineUnavailableError: (Cause.ENGINE_UNAVAILABLE, _TRY_AGAIN),
        CloudError: (Cause.REHEARSAL_UNAVAILABLE, _TRY_AGAIN),
        ProgramError: (Cause.PROGRAM_FAILED, _TRY_AGAIN),
        NoStackFileError: (Cause.STACK_MISSING, "name an existing stack"),
        EscEnvironmentError: (
            Cause.ENVIRONMENT_UNREADABLE,
            "run `pulumi preview`, which knows them, or write them to the stack file",
        ),
        StackFileError: (Cause.STACK_FILE_INVALID, "correct the stack file"),
    }
)
FAILURES: tuple[type[Exception], ...] = (StoppedError, *_FAILURES)


def findings_of(error: Exception) -> tuple[Finding, ...]:
    """One of the FAILURES as findings."""
    if isinstance(error, StoppedError):
        return error.findings
    cause, advice = next(row for kind, row in _FAILURES.items() if isinstance(error, kind))
    return (Finding(cause, str(error), advice),)


def findings_of_mistakes(mistakes: Iterable[tuple[Mistake, int | None]]) -> tuple[Finding, ...]:
    """The mistakes of a stack file, each by its key and its line."""
    return tuple(
        Finding(
            Cause.STACK_FILE_INVALID,
            mistake.reason,
            "correct the stack file",
            key=mistake.path,
            line=line,
        )
        for mistake, line in mistakes
    )


class ReportConsole(Console):
    """Prints reports without control characters, and without cutting lines off."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        columns = os.environ.get("COLUMNS", "")
        is_set = columns.isdecimal() and int(columns) > 0
        # Lines in a pipe are not broken, unless the width is set.
        if not (self.is_terminal or is_set or options.get("width")):
            self.width = _WITHOUT_END
        elif self.width < 1:
            # A terminal that does not know its width: nothing would be shown.
            self.width = _USUAL_WIDTH

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False} | options)

    def on_broken_pipe(self) -> None:
        """The reader has left, such as `head`: the verdict stays what it is."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else visible(segment.text)
            yield segment._replace(text=text)


def exit_code_of(command: Callable[[], int]) -> int:
    """Runs a command; its exit code. A failure is printed as one message."""
    messages = ReportConsole(stderr=True)
    try:
        with terminated_as_interrupted():
            return command()
    except typer.BadParameter:
        raise
    except KeyboardInterrupt:
        return _print_failure(messages, INTERRUPTION)
    except FAILURES as error:
        return _print_failure(messages, *findings_of(error))
    except Exception as error:
        if isinstance(error, OSError) and (advice := _FILE_ADVICE.get(error.errno or 0)):
            what = f"a file cannot be used: {error}"
            return _print_failure(messages, Finding(Cause.CRASHED, what, advice))
        messages.print(traceback.format_exc(), soft_wrap=True, markup=False, highlight=False)
        print_result(Cause.CRASHED, messages)
        return Cause.CRASHED.exit_code


def print_result(cause: Cause, console: Console, cloud: str = "") -> None:
    """Shows the verdict, and the cloud that was asked for it, if there is one."""
    style = "bold red" if cause.is_problem else "bold green"
    line = Text("Result: ").append(cause.word, style).append(f" - {cause.sentence_about(cloud)}.")
    console.print(line, soft_wrap=True)


def print_next(sentence: str, commands: Sequence[str], console: Console) -> None:
    """Shows commands to copy, each on a line of its own."""
    lines = ["", *(f"    {command}" for command in commands), ""]
    console.print(Text("\n".join([f"{sentence}:", *lines])), soft_wrap=True)


def finding_text(finding: Finding) -> Text:
    """A finding in two lines; the second says what to do about it."""
    where = finding.node or (f"pool {finding.pool}" if finding.pool else finding.key)
    if len(finding.nodes) > 1:
        where = f"{len(finding.nodes)} nodes of {where} ({listed(finding.nodes)})"
    style = "bold red" if finding.is_problem else "bold"
    text = Text(f"{finding.cause.word}: ", style)
    text.append(f"{where}: " if where else "", "bold")
    text.append(f"{finding.what}{finding.place}", "not bold default")
    if finding.advice:
        text.append("\n").append_text(advice_text(finding.advice, "  -> "))
    return text


def advice_text(advice: str, start: str) -> Text:
    """What to do; a long command stands on a line of its own, from where it can be copied."""
    commands = [each for each in _COMMAND.findall(advice) if len(each) >= _LONG]
    sentence = _COMMAND.sub(
        lambda match: "the command below" if len(match[1]) >= _LONG else match[0], advice
    )
    indent = " " * (len(start) + 2)
    return Text("\n".join([f"{start}{sentence}", *(f"{indent}{each}" for each in commands)]))


class ReportTable:
    """A table whose cells are never broken or cut off.

    Where the terminal is too narrow for it, each row is a block of lines: names and ids stay whole.
    """

    def __init__(self, headings: Sequence[str], title: str) -> None:
        self._headings = [Text(heading, "bold") for heading in headings]
        self._title = title
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str | Text) -> None:
        self._rows.append([Text(cell) if isinstance(cell, str) else cell for cell in cells])

    @property
    def _width(self) -> int:
        columns: Iterable[tuple[Text, ...]] = zip(*[self._headings, *self._rows], strict=True)
        return sum(max(cell.cell_len for cell in column) + _GAP for column in columns) - _GAP

    def __rich_measure__(self, _: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(0, min(self._width, options.max_width))

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        if self._title:
            yield Text(self._title, "bold", no_wrap=True, overflow="ignore")
        if self._width <= options.max_width:
            shown = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
            for heading in self._headings:
                shown.add_column(heading)
            for row in self._rows:
                shown.add_row(*row)
            yield shown
            return
        longest = max(heading.cell_len for heading in self._headings)
        for row in self._rows:
            for heading, cell in zip(self._headings, row, strict=True):
                if cell:
                    line = Text(no_wrap=True, overflow="ignore")
                    yield line.append(f"{heading.plain:<{longest}}  ", "bold").append(cell)
            yield ""


def table(*headings: str, title: str = "") -> ReportTable:
    return ReportTable(headings, title)


def as_json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, default=_plain) + "\n"


def as_data(facts: Any) -> Any:
    """The dataclasses in facts as mappings, with the names that JSON has for their fields."""
    if is_dataclass(facts) and not isinstance(facts, type):
        return asdict(facts, dict_factory=_with_json_names)
    return [as_data(each) for each in facts]


def _with_json_names(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {re.sub(r"_(.)", lambda match: match[1].upper(), name): at for name, at in members}


def _plain(value: Any) -> Any:
    """What JSON has for a value of another type."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value.word if isinstance(value, Cause) else str(value)


def print_json(document: Mapping[str, Any], console: Console) -> None:
    """Prints it as it is, however wide the terminal."""
    console.out(as_json(document), highlight=False, end="")


def _print_failure(messages: Console, *findings: Finding) -> int:
    for finding in findings:
        messages.print(finding_text(finding), soft_wrap=True)
    cause = verdict(finding.cause for finding in findings)
    print_result(cause, messages)
    return cause.exit_code
