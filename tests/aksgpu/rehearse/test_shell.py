"""The way of a shell into the rehearsal, and back: evaluated by a shell."""

import json
import subprocess
from pathlib import Path
from shlex import quote

import pytest
import yaml
from rich.console import Console

from aksgpu.outcome import Cause, StoppedError, stopped
from aksgpu.project import Project
from aksgpu.rehearsal_stage import Stage
from aksgpu.rehearse import command, shell
from aksgpu.rehearse.command import print_environment, rehearse
from aksgpu.stack_names import mistake_in_name
from machine_setup import Engine
from rehearsal.cloud import Cloud

# What a shell has before, of what it is given: with all that a shell would take for its own.
BEFORE = {
    "PATH": "/usr/bin:/bin",
    "KUBECONFIG": "/home/a b/it's $HOME/`config`",
    "ARM_CLIENT_SECRET": 'so "secret"\nin two lines',
    "SSL_CERT_FILE": "",
    "PULUMI_STACK": "mine",
    "OWN": "stays",
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A stage on which nothing runs."""
    program, engine = tmp_path / "a program", tmp_path / "the engine"
    (program / "policies").mkdir(parents=True)
    (program / "policies" / "PulumiPolicy.yaml").touch()
    engine.mkdir()
    (program / "Pulumi.yaml").write_text("name: a\nruntime: python\n")
    for name in ("dev", "team"):
        (program / f"Pulumi.{name}.yaml").write_text("config: {a: 1}\n")
    (program / "Pulumi.team.policies.json").write_text("{}")
    pulumi = engine / "pulumi"
    # Tells what it gets, and who is asked.
    pulumi.write_text('#!/bin/sh\necho "$PULUMI_STACK" "$@"; echo "$PULUMI_OPTION_CWD"\n')
    pulumi.chmod(0o755)
    home = tmp_path / "home"
    project = Project(program, home)
    project.write()
    for name in ("dev", "team"):
        project.write_stack(name)
    given = ("tenant", "subscription", "id", "secret")
    cloud = Cloud(home, "https://localhost:1", 1, *given, home / "ca", home / "log", 1.0)
    return Stage(Engine(pulumi, "3", "build"), cloud, project)


def evaluated(script: str, environment: dict[str, str]) -> dict[str, str]:
    """The environment of a shell after a script."""
    ended = subprocess.run(
        ["/bin/sh", "-c", f"set -e\n{script}\n/usr/bin/env -0"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (entry.split("=", 1) for entry in ended.stdout.split("\0") if "=" in entry)
    return {name: value for name, value in lines if name not in ("PWD", "SHLVL", "_")}


def way_in(stage: Stage, stack: str, environment: dict[str, str]) -> dict[str, str]:
    return evaluated("\n".join(shell.commands_to_enter(stage, stack, environment)), environment)


def test_leaving_the_shell_restores_the_environment(stage: Stage) -> None:
    there = way_in(stage, "team", way_in(stage, "dev", BEFORE))
    assert there["PULUMI_STACK"] == "team"
    back = evaluated("\n".join(shell.commands_to_leave(there)), there)
    assert back == BEFORE
    assert list(shell.commands_to_leave(back)) == []


def test_the_shell_selects_one_stack_with_its_policy_pack_and_cluster(stage: Stage) -> None:
    home, program = stage.project.home, stage.project.program
    there = way_in(stage, "team", BEFORE)
    assert there["KUBECONFIG"] == str(home / "kubeconfigs" / "team")
    assert there["PULUMI_OPTION_CWD"] == str(home / "project")
    assert there["PULUMI_OPTION_POLICY_PACK"] == str(program / "policies")
    own = str(program / "Pulumi.team.policies.json")
    assert there["PULUMI_OPTION_POLICY_PACK_CONFIG"] == own
    assert there["OWN"] == "stays"
    # Of another stack's, nothing is left; nor does PATH grow.
    other = way_in(stage, "dev", there)
    assert (other["PULUMI_STACK"], other["PULUMI_OPTION_POLICY_PACK_CONFIG"]) == ("dev", "")
    assert other["PATH"] == there["PATH"]
    # What the commands run themselves is told again, whatever the shell was told.
    assert not stage.project.environment()["PULUMI_OPTION_POLICY_PACK"]


def test_pulumi_in_the_shell_reads_an_edited_stack_file(stage: Stage) -> None:
    """The copy that the rehearsal works with kept what it had, and nothing said so."""
    project = stage.project
    lines = "\n".join(shell.commands_to_enter(stage, "dev", BEFORE))
    real, own = project.program / "Pulumi.dev.yaml", project.folder / "Pulumi.dev.yaml"

    def pulumi(*arguments: str) -> "subprocess.CompletedProcess[str]":
        script = f"{lines}\npulumi {' '.join(map(quote, arguments))}"
        command = ["/bin/sh", "-c", script]
        return subprocess.run(
            command, cwd=own_modules, env=BEFORE, capture_output=True, text=True, check=False
        )

    # A folder may have modules with the names of ours.
    own_modules = project.home / "own-modules"
    own_modules.mkdir()
    (own_modules / "settings.py").write_text("raise SystemExit('another program')")

    real.write_text("config: {a: 2}\n")
    ended = pulumi("preview", "--diff", "a b")
    assert ended.stdout.splitlines() == ["dev preview --diff a b", str(project.folder)]
    assert yaml.safe_load(own.read_text())["config"] == {"a": 2}

    real.write_text("config: [\n")
    ended = pulumi("preview")
    assert ended.returncode != 0
    assert not ended.stdout
    assert "error: Pulumi.dev.yaml is not valid YAML: " in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["org/dev", "../dev", "..", "", "a b", "x" * 300, "a/b/c/dev"])
def test_a_name_that_pulumi_refuses_is_refused_before_anything_starts(name: str) -> None:
    """The command crashed after the whole update."""
    for work in (lambda: rehearse(name, Console()), lambda: print_environment(name)):
        with pytest.raises(StoppedError, match="Pulumi does not allow the stack name"):
            work()
    assert not any(map(mistake_in_name, ["dev", "prod.eu", "organization/aks-gpu/dev"]))


def test_a_shell_hears_of_a_change_once_it_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command said that the shell had changed, and failed after that."""

    def fails(*_: object) -> Stage:
        raise stopped(Cause.REHEARSAL_UNAVAILABLE, "there is no Go", "install it")

    monkeypatch.setattr(command, "set_stage", fails)
    with pytest.raises(StoppedError):
        print_environment("dev")
    assert "The shell now uses" not in capsys.readouterr().err


def test_only_the_owner_can_read_a_kubeconfig(stage: Stage) -> None:
    home = stage.project.home
    file = shell.kubeconfig_of(home, "dev")
    shell.keep_kubeconfig(home, "dev", json.dumps({"kind": "Config"}))
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    # `organization/a/dev` is another name of the stack: its kubeconfig had no folder.
    assert shell.kubeconfig_of(home, "organization/a/dev") == file
    # One that the stack no longer has leads nowhere.
    shell.keep_kubeconfig(home, "dev", None)
    assert not file.exists()
