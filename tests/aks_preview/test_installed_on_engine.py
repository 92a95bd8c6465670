"""A team that has installed this repository's wheel, and has no checkout of it."""

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.aks_preview.conftest import Aks, PreviewBench
from tests.bench import ROOT
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it; what it needs is that of the tests' own."""
    folder = tmp_path_factory.mktemp("installed")
    # setuptools takes what an earlier build has left, too.
    source, others = folder / "source", shutil.ignore_patterns(".*", "build", "tests", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=others)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "--wheel-dir", folder, str(source)], check=True, timeout=PATIENCE)
    venv.create(folder / "venv", symlinks=True)
    packages = folder / "venv" / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(packages)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return packages


def test_a_wheel_has_the_plug_in(preview_bench: PreviewBench, aks: Aks, environment: Path) -> None:
    """It had none, and the file in the checkout names an environment beside the checkout."""
    plugin = environment / "aks_preview" / "installed"
    file = preview_bench.folder / "project" / "Pulumi.yaml"
    project = yaml.safe_load(file.read_text())
    for known in project["plugins"]["providers"]:
        if known["name"] == "aks-preview":
            known["path"] = str(plugin)
    file.write_text(yaml.safe_dump(project))

    preview_bench.up(aks.program(headers={"X-Test": "yes"}))

    assert aks.pool() is not None
    (put,) = preview_bench.requests("PUT", f"{aks.path}/agentPools/gpu")
    assert "X-Test" in put["headers"]


@pytest.mark.parametrize("room", ["plugins/aks_preview", "aks_catalogue", "tools/rehearsal"])
def test_a_wheel_has_the_tables(environment: Path, room: str) -> None:
    files = [path for path in (ROOT / room).rglob("*") if path.suffix in (".csv", ".toml", ".yaml")]
    assert files
    parent = (ROOT / room).parent
    assert [path for path in files if not (environment / path.relative_to(parent)).exists()] == []
