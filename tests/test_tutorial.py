"""Every command of docs/tutorial.md, in one shell, in a clone of its own."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_setup import ensure_kubernetes
from rehearsal import cloud
from tests.bench import ROOT
from tests.readme_commands import blocks, clone
from tests.waiting import PATIENCE

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
GIT = {
    **os.environ,
    **{f"GIT_{who}_NAME": "t" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "t@localhost" for who in ("AUTHOR", "COMMITTER")},
}


def make_environment(folder: Path) -> None:
    """The clone's virtual environment: the packages of this one, and the clone's code installed."""
    environment = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    own = Path(sysconfig.get_path("purelib"))
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (packages / "shared.pth").write_text(str(own))
    for installed in own.glob("__editable__*aks_gpu*"):
        code = installed.read_text().replace(str(ROOT), str(folder))
        (packages / installed.name).write_text(code)
    command = environment / "bin" / "aksgpu"
    command.write_text(f"#!{environment}/bin/python\nfrom aksgpu.entry import main\nmain()\n")
    command.chmod(0o755)
    (environment / "ready").touch()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = clone(tmp_path / "clone")
    make_environment(folder)
    for git in ("init --quiet", "add .", "commit --quiet --message begin"):
        subprocess.run(["git", *git.split()], cwd=folder, env=GIT, check=True)  # noqa: S607
    # Ahead of the first command, at a pace of the test's own.
    cloud.start(folder / ".rehearsal", 0.05, kubernetes=ensure_kubernetes().folder)
    yield folder
    cloud.stop(folder / ".rehearsal")


@pytest.mark.engine
@pytest.mark.nightly
def test_the_commands_of_the_tutorial_work(folder: Path) -> None:
    script = "\n".join(line for block in blocks(PAGE) for line in block.lines)
    if not shutil.which("jq"):
        # A machine of our CI need not have it.
        script = re.sub(r" \| jq .*", "", script)

    ended = subprocess.run(
        ["bash", "-exc", script],  # noqa: S607
        cwd=folder,
        env=GIT | {"COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=4 * PATIENCE,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout
    assert re.findall(r"(?m)^Result: ([a-z-]+)", ended.stdout) == [
        "stack-file-invalid",
        "ready",
        "plugin-missing",
        "gpus-schedulable",
        "gpu-pool-lost",
    ], ended.stdout
    assert re.search(r"(?m)^GPUs: +they work", ended.stdout), ended.stdout
    problems = re.findall(r"(?m)^there is a problem: (\d+)$", ended.stdout)
    assert problems == ["1"] * PAGE.count("there is a problem")
    assert not (folder / ".rehearsal").exists()
