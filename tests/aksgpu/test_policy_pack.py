"""The policy pack in a folder of its own. What the engine makes of it: test_plain_aks_on_engine."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from aksgpu.policy_pack import assemble
from tests.bench import ROOT

PAGE = ROOT / "docs" / "policies.md"

# Runs the pack as the SDK does, and tells what it is and where its modules came from. No `site`,
# so that this project, which is installed here, is out of reach.
LOOK = """
import json, runpy, sys
sys.path.append({packages!r})
import pulumi_policy
made = []
pulumi_policy.PolicyPack = lambda **said: made.append(said)
runpy.run_path({pack!r}, run_name="__main__")
ours = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] in {rooms!r}]
rules = [rule.name for rule in made[0]["policies"]]
about = {{name: value for name, value in made[0].items() if isinstance(value, str)}}
print(json.dumps({{**about, "rules": rules, "files": ours}}))
"""
ROOMS = (
    "aks_preview", "aksgpu", "aks_catalogue", "aks_pools", "components", "engine", "policies",
    "settings",
)  # fmt: skip


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    place = tmp_path / "pack"
    assemble(place)
    return place


def test_the_pack_runs_without_this_checkout(pack: Path, tmp_path: Path) -> None:
    packages = sysconfig.get_path("purelib")
    look = LOOK.format(pack=str(pack), packages=packages, rooms=ROOMS)

    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", look],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    findings = json.loads(ended.stdout)
    project = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())
    assert (findings["name"], findings["description"]) == (project["name"], project["description"])
    assert findings["readme"] == PAGE.read_text()
    assert "gpu-pool-linux-only" in findings["rules"]
    assert all(Path(file).is_relative_to(pack) for file in findings["files"])


def test_the_published_pack_contains_its_dependencies_and_no_environment(pack: Path) -> None:
    """It went along with 46 MB of packages, and without a version: the second one was refused."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    manifest = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())
    assert manifest["version"] == project["version"]
    for name in ("venv", "aks_catalogue/__pycache__"):
        (pack / name).mkdir()
        (pack / name / "file").touch()
    subprocess.run(["git", "init", "--quiet"], cwd=pack, check=True)  # noqa: S607

    listed = ["git", "ls-files", "--others", "--exclude-standard"]
    listing = subprocess.run(listed, cwd=pack, capture_output=True, text=True, check=True)

    files = set(listing.stdout.split())
    assert not [file for file in files if file.startswith("venv") or "__pycache__" in file]
    assert files >= {
        "PulumiPolicy.yaml", "__main__.py", "requirements.txt", "docs/policies.md",
        "policies/rules/__init__.py", "aks_catalogue/gpu_sizes.csv",
    }  # fmt: skip


def test_the_pack_uses_its_own_virtual_environment(pack: Path) -> None:
    project = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())

    assert project["name"] == "aks-gpu-policies"
    assert project["runtime"] == {
        "name": "python",
        "options": {"toolchain": "pip", "virtualenv": "venv"},
    }
    pins = (pack / "requirements.txt").read_text().splitlines()
    assert f"pulumi-policy=={version('pulumi-policy')} \\" in pins
    assert f"pulumi=={version('pulumi')} \\" in pins
    without = [
        pin for pin, after in pairwise(pins) if "==" in pin and "--hash=sha256:" not in after
    ]
    assert without == []
    assert not [pin for pin in pins if pin.startswith(("azure", "pulumi-azure", "pydantic"))]


def test_the_pack_is_rebuilt_around_its_virtual_environment(pack: Path) -> None:
    (pack / "venv").mkdir()
    (pack / "policies" / "gone.py").touch()
    shutil.rmtree(pack / "aks_catalogue")

    assemble(pack)

    assert (pack / "venv").exists()
    assert not (pack / "policies" / "gone.py").exists()
    assert (pack / "aks_catalogue" / "gpu_sizes.csv").exists()


def test_a_pack_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    """In a clone that can only be read, `make policy-pack` ended with a traceback."""
    # Such a folder cannot be removed either.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "policies").symlink_to(tmp_path / "elsewhere")
    ended = subprocess.run(
        [sys.executable, "-m", "aksgpu.policy_pack", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The policy pack cannot be written: ")
