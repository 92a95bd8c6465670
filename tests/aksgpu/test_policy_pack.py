"""The policy pack in a folder of its own. What the engine makes of it: tests/examples."""

import json
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from aksgpu.policy_pack import assemble, pins_for

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
print(json.dumps({{"name": made[0]["name"], "rules": rules, "files": ours}}))
"""
ROOMS = ("aks_preview", "aksgpu", "catalogue", "components", "engine", "policies", "settings")

LOCKED = """# made by a tool
a==1 ; python_version < '4'
    # via the-pack
b==2
    # via
    #   other
    #   a
c==3
    # via other
other==4
    # via the-project (pyproject.toml)
the-pack==5
    # via the-project (pyproject.toml)
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    place = tmp_path / "pack"
    assemble(place)
    return place


def test_needs_nothing_of_this_checkout(pack: Path, tmp_path: Path) -> None:
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
    found = json.loads(ended.stdout)
    assert found["name"] == "aks-gpu-policies"
    assert "gpu-pool-linux-only" in found["rules"]
    assert all(Path(file).is_relative_to(pack) for file in found["files"])


def test_names_an_environment_of_its_own(pack: Path) -> None:
    said = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())

    assert said["name"] == "aks-gpu-policies"
    assert said["runtime"] == {
        "name": "python",
        "options": {"toolchain": "pip", "virtualenv": "venv"},
    }
    pins = (pack / "requirements.txt").read_text().splitlines()
    assert f"pulumi-policy=={version('pulumi-policy')}" in pins
    assert f"pulumi=={version('pulumi')}" in pins
    assert not [pin for pin in pins if pin.startswith(("azure", "pulumi-azure", "pydantic"))]


def test_the_pins_are_those_of_what_is_needed() -> None:
    assert pins_for("the-pack", LOCKED) == ["a==1 ; python_version < '4'", "b==2", "the-pack==5"]


def test_is_made_anew_around_its_environment(pack: Path) -> None:
    (pack / "venv").mkdir()
    (pack / "policies" / "gone.py").touch()
    shutil.rmtree(pack / "catalogue")

    assemble(pack)

    assert (pack / "venv").exists()
    assert not (pack / "policies" / "gone.py").exists()
    assert (pack / "catalogue" / "gpu_sizes.csv").exists()
