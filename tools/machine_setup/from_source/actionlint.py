"""actionlint, which checks GitHub workflows: built once from its Go module, and run on files.

    python -m machine_setup.from_source.actionlint .github/workflows/*.yml

An actionlint on PATH is not used: another version finds other mistakes.
"""

import subprocess
import sys
from pathlib import Path

from machine_setup.cache import engine_cache
from machine_setup.errors import SourceUnavailableError
from machine_setup.from_source.programs import WORKFLOWS
from machine_setup.progress import to_stderr

# An action of this repository at the workflow's own commit, which this version does not know:
# https://github.com/rhysd/actionlint/issues/711.
_OWN_ACTION = r'specifying action "\$/'


def ensure_actionlint() -> Path:
    """Returns the executable. Raises SourceUnavailableError if it cannot be built."""
    return WORKFLOWS.build(engine_cache() / "actionlint", to_stderr) / "actionlint"


def lint(files: list[str]) -> int:
    """Runs it with the venv's shellcheck for scripts in workflows; returns its exit code."""
    shellcheck = Path(sys.executable).parent / "shellcheck"
    if not shellcheck.exists():
        raise SourceUnavailableError(
            f"{shellcheck} does not exist; install tools/requirements-dev.txt"
        )
    command = [str(ensure_actionlint()), "-shellcheck", str(shellcheck), "-ignore", _OWN_ACTION]
    return subprocess.run([*command, *files], check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(lint(sys.argv[1:]))
    except SourceUnavailableError as reason:
        sys.exit(f"The workflows cannot be checked: {reason}.")
