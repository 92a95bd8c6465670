"""actionlint, which checks workflows: built from its Go module, once, and run on files.

    python -m engine.actionlint .github/workflows/*.yml

It is never taken from PATH: another version finds other things.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from engine.build import Target, build
from engine.cache import engine_cache
from engine.errors import WayClosedError
from engine.progress import to_stderr
from engine.versions import ACTIONLINT

SOURCE = Path(__file__).parent / "actionlint_source"


def ensure_actionlint() -> Path:
    """The executable. Raises WayClosedError where it can neither be found nor built."""
    modules = b"".join((SOURCE / name).read_bytes() for name in ("go.mod", "go.sum"))
    target = Target(
        name="actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        key=f"{ACTIONLINT}-{hashlib.sha256(modules).hexdigest()[:12]}",
    )
    (folder,) = build(SOURCE, [target], engine_cache() / "actionlint", to_stderr)
    return folder / "actionlint"


def lint(files: list[str]) -> int:
    """Runs it; its exit code. It has the scripts in workflows checked by the venv's shellcheck."""
    shellcheck = Path(sys.executable).parent / "shellcheck"
    if not shellcheck.exists():
        raise WayClosedError(f"there is no {shellcheck}; it comes with requirements-dev.txt")
    command = [str(ensure_actionlint()), "-shellcheck", str(shellcheck), *files]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(lint(sys.argv[1:]))
    except WayClosedError as reason:
        sys.exit(f"The workflows cannot be checked: {reason}.")
