"""Checks configurations of the policy pack against the pack's rules and settings."""

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from aksgpu.outcome import Cause, Finding, verdict
from aksgpu.pack_configuration import expired_in, mistakes_in
from aksgpu.project import stack_files
from aksgpu.report import finding_text, print_result
from policies import organization

_ADVICE = "correct it: docs/reference/rules.md has the rules and their settings"


def check(files: Iterable[Path], console: Console) -> int:
    """Prints the mistakes in the files; by default the organization's and those of the stacks."""
    of_stacks = sorted(stack_files(Path.cwd()).glob("Pulumi.*.policies.json"))
    named = [*files] or [organization.FILE, *of_stacks]
    findings, checked = [], []
    for file in named:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            findings.append(_unreadable(file, error))
            continue
        checked.append(file.name)
        mistakes = mistakes_in(text) or expired_in(text)
        findings += [mistake_in(file.name, mistake) for mistake in mistakes]
    for finding in findings:
        console.print(finding_text(finding), soft_wrap=True)
    summary = ", ".join([f"Configurations checked: {len(checked)}", *checked])
    console.print(Text(f"{summary}."), soft_wrap=True)
    cause = verdict(finding.cause for finding in findings)
    print_result(cause, console)
    return cause.exit_code


def _unreadable(file: Path, error: Exception) -> Finding:
    is_missing = isinstance(error, FileNotFoundError)
    cause = Cause.FILE_MISSING if is_missing else Cause.POLICIES_INVALID
    is_odd = isinstance(error, UnicodeDecodeError)
    what = f"it cannot be read: {'it is not in UTF-8' if is_odd else error}"
    return Finding(cause, what, "name an existing file in UTF-8", key=file.name)


def mistake_in(name: str, mistake: str) -> Finding:
    return Finding(Cause.POLICIES_INVALID, mistake, _ADVICE, key=name)
