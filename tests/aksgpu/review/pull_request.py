"""The example as a pull request: its base is a commit, and its files are what was made of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE

EXAMPLE = Path(__file__).with_name("example")
STACK = "prod"


def make_pull_request(folder: Path) -> None:
    """Makes a repository in which the base is main, and the pull request is what lies there."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "base"))
    stack_file = folder / f"Pulumi.{STACK}.yaml"
    pull_request = stack_file.read_text()
    shutil.copy(EXAMPLE / "base" / stack_file.name, stack_file)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "base")
    stack_file.write_text(pull_request)


def git(folder: Path, *arguments: str) -> None:
    someone = {f"GIT_{role}_{field}": "a@b" for role in ("AUTHOR", "COMMITTER") for field in
               ("NAME", "EMAIL")}  # fmt: skip
    subprocess.run(
        ["git", *arguments],  # noqa: S607
        cwd=folder,
        env={**os.environ, **someone, "GIT_CONFIG_GLOBAL": os.devnull},
        check=True,
    )


def run_review(
    home: Path, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """`aksgpu review` as a user runs it, with rehearsals in a folder of their own."""
    return subprocess.run(
        [sys.executable, "-c", "from aksgpu.main import main; main()", "review", *arguments],
        env={**os.environ, "AKS_GPU_REHEARSAL_ROOT": str(home), "COLUMNS": "100"} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
