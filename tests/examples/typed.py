"""A program beside this one, and what is typed to run it, on a test's rehearsal cloud."""

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from aksgpu.project import Project
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse.shell import commands_to_enter
from tests.bench import AKSGPU, ROOT, Bench
from tests.waiting import PATIENCE

# What sets up the machine, which a test has already.
SET_UP = ("make ", "eval ")
# The way into a rehearsal of its own, in the place of what would start one.
STACK = "dev"


@dataclass(frozen=True)
class Typed:
    """A copy of a program in what looks like a checkout, with this environment beside it."""

    bench: Bench
    # Of this checkout.
    folder: str
    root: Path

    @property
    def readme(self) -> str:
        return (ROOT / self.folder / "README.md").read_text()

    def prepare(self) -> "Typed":
        folder = self.root / self.folder
        folder.mkdir(parents=True)
        for file in (ROOT / self.folder).glob("*.*"):
            (folder / file.name).write_bytes(file.read_bytes())
        # `pulumi install` puts another pip into the environment of a package.
        venv.create(self.root / ".venv", symlinks=True, with_pip=True)
        [packages] = (self.root / ".venv").glob("lib/*/site-packages")
        (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
        (self.root / ".venv" / "bin" / "aksgpu").symlink_to(AKSGPU)
        # The package with the components, and what it stands on.
        (self.root / "components").symlink_to(ROOT / "components")
        return self

    def run(self, *lines: str) -> str:
        """What the lines print; their last one may fail, as it tells by its exit code."""
        before = installed()
        stage = Stage(self.bench.engine, self.bench.cloud, Project(ROOT, self.bench.folder))
        script = [*commands_to_enter(stage, STACK, self.bench.environment)]
        script += [line for line in lines if not line.startswith(SET_UP)]
        ended = subprocess.run(
            ["bash", "-ec", "\n".join(script)],  # noqa: S607
            cwd=self.root,
            env=self.bench.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        # `pulumi install` in an example put another pip into this environment.
        assert installed() == before
        return f"{ended.stdout}exit code {ended.returncode}\n"


def installed() -> list[tuple[str, int]]:
    """The packages of this environment, with when each was put there."""
    folders = Path(sys.prefix).glob("lib/python*/site-packages/*.dist-info")
    return sorted((folder.name, folder.stat().st_mtime_ns) for folder in folders)
