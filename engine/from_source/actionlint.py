"""actionlint, which checks GitHub workflows: built once from its Go module, and run on files.

    python -m engine.actionlint .github/workflows/*.yml

An actionlint on PATH is not used: another version finds other mistakes.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from engine.build import Target, build
from engine.cache import engine_cache
from engine.errors import SourceUnavailableError
from engine.progress import to_stderr
from engine.versions import ACTIONLINT

SOURCE = Path(__file__).parent / "actionlint_source"


def ensure_actionlint() -> Path:
    """Returns the executable. Raises SourceUnavailableError if it cannot be built."""
    modules = b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum"))
    target = Target(
        name="actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        key=f"{ACTIONLINT}-{hashlib.sha256(modules).hexdigest()[:12]}",
    )
    (folder,) = build(SOURCE, [target], engine_cache() / "actionlint", to_stderr)
    return folder / "actionlint"


def lint(files: list[str]) -> int:
    """Runs it with the venv's shellcheck for scripts in workflows; returns its exit code."""
    shellcheck = Path(sys.executable).parent / "shellcheck"
    if not shellcheck.exists():
        raise SourceUnavailableError(f"{shellcheck} does not exist; install requirements-dev.txt")
    command = [str(ensure_actionlint()), "-shellcheck", str(shellcheck), *files]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(lint(sys.argv[1:]))
    except SourceUnavailableError as reason:
        sys.exit(f"The workflows cannot be checked: {reason}.")
