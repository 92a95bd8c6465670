"""Checks configurations of the policy pack, by the pack's own rules and settings alone."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from aksgpu.outcome import Cause, Finding, stopped, verdict
from aksgpu.report import finding_text, print_result
from policies.configuration import expired_in, mistakes_in

_ADVICE = "correct it: docs/policies.md has the rules and their settings"


def check(files: Iterable[Path], console: Console) -> int:
    """Prints the mistakes of the files, of those in this folder where none is named."""
    named = [*files] or sorted(Path.cwd().glob("Pulumi.*.policies.json"))
    findings = [finding for file in named for finding in _findings_in(file)]
    for finding in findings:
        console.print(finding_text(finding), soft_wrap=True)
    cause = verdict(finding.cause for finding in findings)
    print_result(cause, console)
    return cause.exit_code


def _findings_in(file: Path) -> Iterator[Finding]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"{file} cannot be read: {error}"
        raise stopped(Cause.STACK_MISSING, what, "name a file that there is") from None
    for mistake in mistakes_in(text) or expired_in(text):
        yield mistake_in(file.name, mistake)


def mistake_in(name: str, mistake: str) -> Finding:
    return Finding(Cause.POLICIES_INVALID, mistake, _ADVICE, key=name)
