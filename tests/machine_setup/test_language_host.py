"""Python programs, policy packs and providers, as the real engine runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.processes import is_running
from tests.waiting import until

if TYPE_CHECKING:
    from tests.machine_setup.conftest import Project

pytestmark = [pytest.mark.engine, pytest.mark.long]

NOISE = ("Traceback", "KeyboardInterrupt", "exit status", "signal:")

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def validate(stack, report):
    report("the stack is not to our liking")

PolicyPack("house", policies=[StackValidationPolicy(
    name="liking",
    description="A stack is to our liking",
    enforcement_level=EnforcementLevel.MANDATORY,
    validate=validate,
)])
"""

# Creates what it is asked for. If it is asked to wait, it leaves a file with its process id for the
# test, waits until the engine cancels and the program is gone, and comes to its result only then.
PROVIDER = """
import asyncio, os, pathlib, sys
from pulumi.provider.experimental import provider as p
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.server import main

class Provider(p.Provider):
    def __init__(self):
        self.cancelled = asyncio.Event()

    async def check(self, request):
        return p.CheckResponse(inputs=request.new_inputs)

    async def create(self, request):
        print("creating a thing", file=sys.stderr)
        wait = request.properties.get("wait")
        if wait and not request.preview:
            file = pathlib.Path(wait.value)
            file.with_suffix(".unfinished").write_text(str(os.getpid()))
            file.with_suffix(".unfinished").rename(file)
            await self.cancelled.wait()
            program = int(file.with_name("program").read_text())
            for _ in range(50):
                await asyncio.sleep(0.1)
                try:
                    os.kill(program, 0)
                except ProcessLookupError:
                    break
            else:
                raise RuntimeError("the program goes on")
        return p.CreateResponse(
            resource_id="" if request.preview else "thing-1", properties=request.properties
        )

    async def delete(self, request):
        print("deleting a thing", file=sys.stderr)

    async def cancel(self):
        self.cancelled.set()

main(sys.argv[1:], "1.0.0", Provider())
"""

# Writes under another name first, so that the file is complete once it is there.
LEAVE_PID = """
import os, pathlib
pathlib.Path("unfinished").write_text(str(os.getpid()))
pathlib.Path("unfinished").rename("program")
"""

THING = """
import pulumi

class Thing(pulumi.CustomResource):
    def __init__(self, name, **inputs):
        super().__init__("things:index:Thing", name, inputs)
"""


def test_program_has_its_configuration_and_gives_its_outputs(project: Project) -> None:
    project.write(
        "__main__.py",
        """
import sys
import pulumi
config = pulumi.Config()
print("said on stdout")
print("said on stderr", file=sys.stderr)
pulumi.export("size", config.require("size"))
pulumi.export("token", config.require_secret("token"))
pulumi.export("warned", pulumi.runtime.is_config_secret("trial:token"))
pulumi.export("where", [pulumi.get_project(), pulumi.get_stack(), pulumi.get_organization()])
""",
    )
    project.must("config", "set", "size", "12")
    project.must("config", "set", "--secret", "token", "of no use to others")

    shown = project.must("up", "--yes", "--skip-preview")

    assert "said on stdout" in shown
    assert "said on stderr" in shown
    assert "of no use to others" not in shown
    outputs = json.loads(project.must("stack", "output", "--json", "--show-secrets"))
    assert outputs == {
        "size": "12",
        "token": "of no use to others",
        "warned": True,
        "where": ["trial", "test", "organization"],
    }


def test_failing_program_shows_its_traceback_once(project: Project) -> None:
    project.write("__main__.py", "def go_wrong():\n    raise ValueError('too bad')\n\ngo_wrong()\n")

    assert project.pulumi("preview") != 0

    assert project.last.count("ValueError: too bad") == 1
    assert "in go_wrong" in project.last
    # Only the traceback: that a process ended with a number is no news.
    assert "exit status" not in project.last


def test_program_that_exits_by_itself_is_a_failure(project: Project) -> None:
    project.write("__main__.py", "import sys\nsys.exit(3)\n")

    assert project.pulumi("preview") != 0

    assert "the program failed: exit status 3" in project.last


def test_violated_policy_fails_the_preview(project: Project) -> None:
    pack = project.add("PulumiPolicy.yaml", sys.prefix, PACK, "pack")

    assert project.pulumi("preview", "--policy-pack", str(pack)) != 0

    assert "the stack is not to our liking" in project.last


def test_pack_that_fails_shows_its_traceback(project: Project) -> None:
    pack = project.add("PulumiPolicy.yaml", sys.prefix, "raise ValueError('too strict')\n", "pack")

    assert project.pulumi("preview", "--policy-pack", str(pack)) != 0

    # These are the words of the SDK's own way to run a pack.
    assert "Program failed with an unhandled exception" in project.last
    assert "ValueError: too strict" in project.last


def test_project_and_pack_each_have_their_virtual_environment(project: Project) -> None:
    make_environment(project.folder / "own", marker="marker_of_program")
    make_environment(project.folder / "pack" / "packs-own", marker="marker_of_pack")
    project.configure(virtualenv="own")
    project.write("__main__.py", "import marker_of_program\nprint('program:', marker_of_program)\n")
    pack = project.add(
        "PulumiPolicy.yaml",
        "packs-own",
        "import marker_of_pack\n"
        + PACK.replace('"the stack is not to our liking"', "str(marker_of_pack)"),
        "pack",
    )

    assert project.pulumi("preview", "--policy-pack", str(pack)) != 0

    assert str(project.folder / "own") in line_with("program:", project.last)
    assert str(pack / "packs-own") in line_with("<module 'marker_of_pack'", project.last)


def test_about_names_the_python_of_the_project_and_asks_no_pip(project: Project) -> None:
    """`pip --version` was asked at each operation: an eighth of a preview."""
    environment = project.folder / "own"
    make_environment(environment, marker="pip")
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (packages / "pip.py").write_text(f"open({str(project.folder / 'asked')!r}, 'w')\n")
    project.configure(virtualenv="own")

    project.must("preview")

    assert not (project.folder / "asked").exists()
    about = json.loads(project.must("about", "--json"))
    python = str(environment / "bin" / "python")
    version = "{}.{}.{}".format(*sys.version_info)
    assert about["runtime"] == {"language": "python", "executable": python, "version": version}


@pytest.mark.parametrize("exists", [False, True])
def test_missing_virtual_environment_is_named(project: Project, exists: bool) -> None:
    project.configure(virtualenv="nowhere")
    if exists:
        (project.folder / "nowhere").mkdir()

    assert project.pulumi("preview") != 0

    assert f'"{project.folder / "nowhere"}" doesn\'t' in project.last
    assert "python3 -m venv" in project.last


def test_provider_in_a_folder_creates_and_deletes(project: Project) -> None:
    add_provider(project)
    project.write("__main__.py", THING + "pulumi.export('id', Thing('one', size=3).id)\n")

    project.must("up", "--yes", "--skip-preview")
    assert project.must("stack", "output", "id").strip() == "thing-1"

    # What a provider writes to stderr is kept for debugging.
    shown = project.must("destroy", "--yes", "--skip-preview", "--debug")
    assert "deleting a thing" in shown
    assert json.loads(project.must("stack", "export"))["deployment"].get("resources") is None


def test_cancelled_update_ends_everything_quietly(project: Project) -> None:
    add_provider(project)
    reached = project.folder / "reached"
    project.write("__main__.py", THING + LEAVE_PID + f"Thing('one', wait={str(reached)!r})\n")

    cancel(project, project.start("up", "--yes", "--skip-preview"), reached)

    assert not is_running(int(reached.read_text()))
    assert not is_running(program_of(project))
    # What the provider had begun is not lost.
    assert "thing-1" in project.must("stack", "export")


def test_cancelled_preview_ends_a_busy_program_quietly(project: Project) -> None:
    project.write("__main__.py", LEAVE_PID + "import time\ntime.sleep(600)\n")

    cancel(project, project.start("preview"), project.folder / "program")

    assert not is_running(program_of(project))


def test_a_killed_engine_leaves_no_processes(project: Project) -> None:
    project.write("__main__.py", LEAVE_PID + "import time\ntime.sleep(600)\n")
    process = project.start("preview")
    try:
        until((project.folder / "program").exists, "the program ran")
        process.kill()
        until(lambda: not is_running(program_of(project)), "the program ended")
    finally:
        project.finish(process)


def cancel(project: Project, process: subprocess.Popen[str], reached: Path) -> None:
    """Interrupt pulumi once a file is there; it has to fail, and without noise.

    What it runs would go on for ten minutes, or for ever: that it ends at all is on our account.
    """
    try:
        until(reached.exists, f"the program or provider wrote {reached.name}")
        os.killpg(process.pid, signal.SIGINT)
    finally:
        code = project.finish(process)
    assert code != 0
    assert "cancel" in project.last
    for noise in NOISE:
        assert noise not in project.last, project.last


def program_of(project: Project) -> int:
    """The process id of the program that began with LEAVE_PID."""
    return int((project.folder / "program").read_text())


def add_provider(project: Project) -> None:
    folder = project.add("PulumiPlugin.yaml", sys.prefix, PROVIDER, "things")
    project.configure(plugins={"providers": [{"name": "things", "path": str(folder)}]})


def make_environment(folder: Path, marker: str) -> None:
    """A virtual environment with the packages of these tests, and one module of its own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib"))
    (packages / f"{marker}.py").touch()


def line_with(part: str, text: str) -> str:
    lines = [line for line in text.splitlines() if part in line]
    assert lines, text
    return lines[0]
