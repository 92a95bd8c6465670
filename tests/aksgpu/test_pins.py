"""The requirements of the policy pack and of aks-preview: a part of the lock file."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

import pytest

from aksgpu.pins import NEEDS, pins_for, requirements
from tests.bench import ROOT

LOCKED = """# made by a tool
a==1 ; python_version < '4' \\
    --hash=sha256:0a \\
    --hash=sha256:1a
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
# The folders that each of them imports besides its own.
BESIDES = {
    "policies": ("aks_pools", "aks_catalogue"),
    "plugins/aks_preview": ("aks_catalogue", "plugins/provider_kit"),
}


def test_the_pins_are_those_of_the_packages_that_are_needed() -> None:
    pin = "a==1 ; python_version < '4' \\\n    --hash=sha256:0a \\\n    --hash=sha256:1a"

    assert pins_for(["the-pack"], LOCKED) == [pin, "b==2", "the-pack==5"]


@pytest.mark.parametrize("folder", NEEDS)
def test_the_requirements_are_up_to_date(folder: str) -> None:
    """`make lock`"""
    assert (ROOT / folder / "requirements.txt").read_text() == requirements(folder)


def imported(folder: str) -> Iterator[str]:
    for file in (ROOT / folder).rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        of_types = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node not in of_types:
                yield node.module or ""


def packages(*rooms: str) -> set[str]:
    """The packages that the code of some rooms imports."""
    known = packages_distributions()
    found = set()
    for name in {name for room in rooms for name in imported(room)}:
        parts = name.split(".")
        ours = any((ROOT / room / parts[0]).exists() for room in (".", "plugins", "tools"))
        if ours or parts[0] in sys.stdlib_module_names:
            continue
        own = [part.lower().replace("_", "-") for part in known[parts[0]]]
        # A namespace such as `azure` is of several: the one with most of the module's name.
        named = [each for each in own if {*each.split("-")} <= {*parts}]
        found.add(max(named, key=len, default=own[0]))
    return found


@pytest.mark.parametrize("folder", NEEDS)
def test_the_requirements_have_the_packages_that_the_code_imports(folder: str) -> None:
    """aks-preview installed azure-native's SDK, and half a gigabyte that it never loads."""
    pinned = {pin.partition("==")[0] for pin in requirements(folder).splitlines() if "==" in pin}
    assert packages(folder, *BESIDES[folder]) <= pinned


def test_a_real_stack_installs_what_the_program_imports() -> None:
    """Whoever only ran `pulumi up` installed the commands and the rehearsal, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs, of_tools = (
        {each.partition("==")[0].lower() for each in part}
        for part in (project["dependencies"], project["optional-dependencies"]["tools"])
    )
    program = (
        "components", "stack_settings", "aks_catalogue", "aks_pools", "plugins", "policies",
    )  # fmt: skip
    # These come with others: the SDKs of Pulumi, pydantic and aiohttp.
    brought = {"grpcio", "protobuf", "pydantic-core"}
    assert packages(*program) - brought == needs
    rest = {"aksgpu", "rehearsal", "machine_setup", "kube_client"}
    assert packages(*(f"tools/{room}" for room in rest)) - brought - needs == of_tools
