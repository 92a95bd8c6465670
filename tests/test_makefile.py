"""What `make` says by itself, and of a Python that is too old."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench import ROOT

MAKEFILE = ROOT / "Makefile"
# Python, which says that it is 3.10.
OLD = f"""#!/bin/sh
[ "$1" = -c ] || {{ echo "{{0}} was started: $*"; exit 1; }}
exec {sys.executable} -c "import sys; sys.version_info = (3, 10, 12); exec(sys.argv[1])" "$2"
"""


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Of a `make test` around this one, it would say which folder it enters.
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments],  # noqa: S607 (the user's make)
        cwd=folder,
        env=own | {"MFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def checkout(folder: Path) -> Path:
    for name in ("Makefile", "tools/requirements-dev.txt", "pyproject.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    old = folder / "python3.10"
    old.write_text(OLD)
    old.chmod(0o755)
    return old


def test_make_alone_lists_every_target() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE.read_text(), re.MULTILINE)
    assert phony is not None
    listed = make(ROOT)
    assert listed.returncode == 0
    names = [line.split()[1] for line in listed.stdout.splitlines()]
    assert sorted(names) == sorted(phony[1].split())


def test_an_old_python_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    """pip said that it found no version of some package, and nothing of Python."""
    old = checkout(tmp_path)
    made = make(tmp_path, "test", f"PYTHON={old}")
    assert made.returncode != 0
    assert "needs Python 3.11 or newer" in made.stderr
    assert "was started" not in made.stdout
    assert not (tmp_path / ".venv").exists()


def test_an_environment_of_an_old_python_is_made_anew(tmp_path: Path) -> None:
    """It kept its Python, whichever was named."""
    old = checkout(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    old.rename(tmp_path / ".venv" / "bin" / "python")
    new = tmp_path / "python3.13"
    new.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exec {sys.executable} "$@"\nls .venv\nexit 1\n')
    new.chmod(0o755)
    assert "No such file" in make(tmp_path, "test", f"PYTHON={new}", "LC_ALL=C").stderr
