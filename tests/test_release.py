"""What a release offers: archives that need nothing of a clone."""

import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from aksgpu.ci.release import notes, versions
from tests.aksgpu.review.pull_request import git
from tests.bench import ROOT
from tests.readme_commands import clone
from tests.waiting import PATIENCE

pytestmark = pytest.mark.nightly

VERSION = versions(ROOT)["pyproject.toml"]
# Loads a plug-in as the engine starts it. No `site`, so that the checkout, which is installed here,
# is out of reach.
LOAD = """
import runpy, sys
sys.path[:0] = [{folder!r}]
sys.path.append({packages!r})
runpy.run_path({folder!r} + "/__main__.py")
from aks_preview.configuration import VERSION
print(VERSION)
"""


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A clone at a tag, with what `.ci/release` makes there."""
    folder = clone(tmp_path / "clone")
    changes = folder / "CHANGELOG.md"
    text = changes.read_text()
    changes.write_text(text[text.index(f"## {VERSION}") :])
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "release")
    (folder / ".venv").symlink_to(sys.prefix)
    subprocess.run([".ci/release", f"v{VERSION}"], cwd=folder, check=True, timeout=PATIENCE)
    return folder / "build" / "release"


def test_the_archives_of_a_release_work_by_themselves(released: Path, tmp_path: Path) -> None:
    pack, plug_ins = f"aks-gpu-policies-{VERSION}", f"aks-gpu-plug-ins-{VERSION}"
    assert {file.name for file in released.iterdir()} == {
        "notes.md",
        f"{pack}.tar.gz",
        f"{plug_ins}.tar.gz",
    }
    assert (released / "notes.md").read_text() == notes(ROOT, VERSION)
    for name in (pack, plug_ins):
        with tarfile.open(released / f"{name}.tar.gz") as archive:
            archive.extractall(tmp_path / "unpacked", filter="data")
    assert {path.name for path in (tmp_path / "unpacked").iterdir()} == {pack, plug_ins}
    assert (tmp_path / "unpacked" / pack / "PulumiPolicy.yaml").exists()
    for name in ("components", "plugins/aks_preview"):
        folder = tmp_path / "unpacked" / plug_ins / name
        assert {"PulumiPlugin.yaml", "requirements.txt"} <= {path.name for path in folder.iterdir()}
        look = LOAD.format(folder=str(folder), packages=sysconfig.get_path("purelib"))
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", look],
            env=os.environ,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        assert ended.stdout == f"{VERSION}\n"


def test_a_tag_of_another_version_is_not_released(released: Path) -> None:
    ended = subprocess.run(
        [".ci/release", "v9.9.9"],
        cwd=released.parents[1],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert ended.returncode
    assert "pyproject.toml has" in ended.stderr
    assert not list(released.glob("*.tar.gz"))
