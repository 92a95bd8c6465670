"""The README's commands for Azure, as they stand there, on the rehearsal cloud."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from aksgpu.preflight.requirements import PROVIDERS
from machine_setup import Engine, ensure_kubernetes
from machine_setup.versions import LOWEST_PULUMI
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import ROOT
from tests.readme_commands import clone, commands
from tests.rehearsal.conftest import Azure
from tests.waiting import PATIENCE

README = (ROOT / "README.md").read_text()
V = "?api-version=2021-04-01"


def section(heading: str) -> str:
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_readme_and_the_project_file_require_the_same_pulumi() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())

    assert project["requiredPulumiVersion"] == f">={LOWEST_PULUMI}"
    assert f"{LOWEST_PULUMI.rpartition('.')[0]} or newer, the\n" in README


def test_the_map_has_every_folder_of_the_root() -> None:
    """A newcomer met 39 entries, of which the README explained none."""
    files = subprocess.run(
        ["git", "ls-files"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    shown = set(re.findall(r"`([\w.]+)/`", section("What is where")))
    assert shown == {path.split("/")[0] for path in files if "/" in path}


def test_the_container_to_work_in_has_a_python_for_this_project() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    version = re.fullmatch(
        r"mcr\.microsoft\.com/devcontainers/python:[\d.]+-([\d.]+)-\w+", container["image"]
    )
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert version
    assert SpecifierSet(needed).contains(version[1])
    assert "(.devcontainer/devcontainer.json)" in README.split("\n## ")[0]


def test_the_first_screen_counts_the_stack_files_as_they_are() -> None:
    ((came, of),) = re.findall(r"\(examples/stacks\) [^|]*\| (\d+) of (\d+) \|", README)
    stacks = list((ROOT / "examples" / "stacks").glob("Pulumi.*.yaml"))
    assert int(came) == int(of) == len(stacks)


@pytest.fixture
def subscription(tmp_path: Path) -> Iterator[Cloud]:
    """An empty subscription of today."""
    home = tmp_path / "cloud"
    running = cloud.start(home, time_scale=0.2, kubernetes=ensure_kubernetes().folder)
    for namespace in PROVIDERS:
        registration(running, namespace, "unregister")
    yield running
    cloud.stop(home)


def registration(running: Cloud, namespace: str, action: str) -> None:
    """Registers a resource provider or takes it away, as `az provider` does, and waits."""
    azure, path = Azure(running), f"/providers/{namespace}"
    assert azure.call("POST", f"{path}/{action}{V}").status == 200
    state = {"register": "Registered", "unregister": "Unregistered"}[action]
    azure.wait(f"{path}{V}", lambda reply: bool(reply.body["registrationState"] == state))


# Four minutes beside other lives.
@pytest.mark.timeout(900)
@pytest.mark.engine
@pytest.mark.nightly
def test_the_commands_take_an_empty_subscription_to_a_running_stack(
    engine: Engine, subscription: Cloud, tmp_path: Path
) -> None:
    """`pulumi up -s dev` answered that there was no stack dev: nothing had said to make it."""
    folder, home = clone(tmp_path / "clone"), tmp_path / "home"
    home.mkdir()
    # In place of what Pulumi downloads.
    path = engine.on_path(subscription.on_path(os.environ["PATH"]))
    environment = {
        "HOME": str(home),
        "PATH": path,
        "COLUMNS": "200",
        # In place of the answers to prompts.
        "PULUMI_CONFIG_PASSPHRASE": "correct horse",
        "PULUMI_SKIP_CONFIRMATIONS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_HOME": str(home / ".pulumi"),
        # `pulumi login --local` goes by the machine's list of users, and not by HOME.
        "PULUMI_BACKEND_URL": f"file://{home}",
        # In place of `az login`.
        **subscription.environment(),
    }
    on_azure = section("Use it on Azure")
    sign_in = commands(on_azure, "and register the resource providers:")
    assert all(line.startswith(("az ", "export ARM_SUBSCRIPTION_ID=")) for line in sign_in)
    for line in sign_in:
        # In place of `az provider register`.
        if registered := re.fullmatch(r"az provider register --wait --namespace (\S+)", line):
            registration(subscription, registered[1], "register")
    script = commands(on_azure, "Then, in a clone of this repository:")
    script += commands(on_azure, "To delete everything again:")

    ended = subprocess.run(
        ["bash", "-exc", "\n".join(script)],  # noqa: S607
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout
    # The node that the sample job woke is there still, or gone again.
    assert re.search(r"^Result: (gpus-schedulable|no-nodes-now)", ended.stdout, re.MULTILINE)
