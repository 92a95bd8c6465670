import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.project import Project
from aksgpu.rehearse import state
from aksgpu.running import Program
from aksgpu.stack_names import policies_file, stack_file, stack_of
from machine_setup import Engine
from rehearsal.arm.home import Home, load_principal
from stack_settings.stack_file import StackFileError
from tests.bench import ROOT

REAL = {
    "name": "aks-gpu",
    "runtime": "python",
    "config": {"aks-gpu:location": {"type": "string"}},
    "plugins": {"providers": [{"name": "our-own", "path": "own"}]},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    program = tmp_path / "program"
    program.mkdir()
    (program / "Pulumi.yaml").write_text(yaml.safe_dump(REAL))
    own = Project(program, tmp_path / "home")
    own.write()
    return own


def write_stack(project: Project, content: dict[str, Any]) -> None:
    (project.program / "Pulumi.dev.yaml").write_text(yaml.safe_dump(content))


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def test_a_project_runs_the_same_program_with_other_plug_ins(project: Project) -> None:
    own = read(project.folder / "Pulumi.yaml")

    assert (project.folder / own["main"]).resolve() == project.program
    assert (own["name"], own["config"]) == (REAL["name"], REAL["config"])
    assert {plugin["name"]: plugin["path"] for plugin in own["plugins"]["providers"]} == {
        "our-own": str(project.program / "own"),
        "azure-native": str(ROOT / "tools/rehearsal/offline_plug_ins/azure_native"),
        "kubernetes": str(ROOT / "tools/rehearsal/offline_plug_ins/kubernetes"),
    }


def test_a_project_copies_a_stack_file_without_its_key(project: Project) -> None:
    config = {"aks-gpu:location": "eastus"}
    write_stack(project, {"config": config, "encryptionsalt": "v1:theirs", "secretsprovider": "x"})

    project.write_stack("dev")

    assert read(project.folder / "Pulumi.dev.yaml") == {"config": config}


def test_a_project_keeps_its_own_key_when_the_stack_file_changes(project: Project) -> None:
    write_stack(project, {"config": {"aks-gpu:location": "eastus"}})
    project.write_stack("dev")
    own = project.folder / "Pulumi.dev.yaml"
    own.write_text(yaml.safe_dump(read(own) | {"encryptionsalt": "v1:ours"}))
    write_stack(project, {"config": {"aks-gpu:location": "westeurope"}})

    project.write()

    assert read(own) == {"config": {"aks-gpu:location": "westeurope"}, "encryptionsalt": "v1:ours"}


SECRETS = """\
encryptionsalt: v1:theirs
config:
  azure-native:clientSecret: {secure: v1:a}
  azure-native:subscriptionId: 12345678-1234-9876-4563-123456789012
  dbPassword: {secure: v1:b}
  aks-gpu:tags: {team: {secure: v1:d}, plain: '0o17'}
  aks-gpu:systemPool: {customHeaders: {secure: v1:f}}
  aks-gpu:deep: [{c: {secure: v1:g}}]
"""


def test_stand_ins_replace_secrets_of_the_real_key(project: Project, engine: Engine) -> None:
    """A stack file with any secret could not be rehearsed, nor reviewed offline."""
    (project.program / "Pulumi.dev.yaml").write_text(SECRETS)
    project.write()
    project.write_stack("dev")

    def pulumi(*arguments: str) -> str:
        environment = {**os.environ, **project.environment()}
        command = [str(engine.pulumi), *arguments]
        return subprocess.check_output(command, cwd=project.folder, env=environment, text=True)

    pulumi("stack", "init", "dev")
    config = json.loads(pulumi("config", "--json", "--show-secrets", "--stack", "dev"))
    assert {key: (value["value"], value["secret"]) for key, value in config.items()} == {
        "aks-gpu:dbPassword": ("secret=secret", True),
        "aks-gpu:tags": ('{"plain":"0o17","team":"secret=secret"}', True),
        "aks-gpu:systemPool": ('{"customHeaders":"secret=secret"}', True),
        "aks-gpu:deep": ('[{"c":"secret=secret"}]', True),
    }

    own = project.folder / "Pulumi.dev.yaml"
    before = own.read_text()
    project.write()
    assert own.read_text() == before


def test_a_stack_with_the_name_of_an_option_has_a_state_that_is_read_here(
    project: Project, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pulumi stack init` took a name for an option, and printed its help instead.

    With compressed checkpoints, every rehearsal took all resources for lost ones.
    """
    monkeypatch.setenv("PULUMI_SELF_MANAGED_STATE_GZIP", "true")
    project.write()
    pulumi = Program((engine.pulumi,), project.folder, project.environment())
    state.read_or_init(pulumi, "--help")
    assert [file.stem for file in project.state.glob(".pulumi/stacks/**/*.json")] == ["--help"]


@pytest.mark.parametrize("text", ["", "config:\n", "config: {}\n"])
def test_an_empty_stack_file_is_valid(project: Project, text: str) -> None:
    (project.program / "Pulumi.dev.yaml").write_text(text)

    project.write_stack("dev")


@pytest.mark.parametrize("text", ["- 1\n", "just words", "config: [1]\n", "config: words\n"])
def test_a_stack_file_that_is_no_map_is_refused(project: Project, text: str) -> None:
    (project.program / "Pulumi.dev.yaml").write_text(text)

    with pytest.raises(StackFileError, match=r"Pulumi.dev.yaml must contain a map"):
        project.write_stack("dev")


def test_an_unknown_stack_is_reported_with_the_existing_stack_files(project: Project) -> None:
    write_stack(project, {})

    with pytest.raises(StackFileError, match=r"no stack file Pulumi.x.yaml.*Pulumi.dev.yaml"):
        project.write_stack("x")


def test_a_stack_may_have_dots_in_its_name(project: Project) -> None:
    real = project.program / "Pulumi.prod.eu.yaml"
    real.write_text("config: {aks-gpu:location: eastus}")
    project.write_stack("prod.eu")
    real.write_text("config: {aks-gpu:location: westeurope}")

    project.write()

    own = read(project.folder / "Pulumi.prod.eu.yaml")
    assert own == {"config": {"aks-gpu:location": "westeurope"}}


@pytest.mark.parametrize(
    ("file", "stack"),
    [
        ("Pulumi.dev.yaml", "dev"),
        ("Pulumi.prod.eu.yaml", "prod.eu"),
        ("Pulumi.prod.eu.policies.json", "prod.eu"),
        ("Pulumi.yaml", None),
        ("Pulumi.dev.json", None),
        ("infra/Pulumi.dev.yaml", None),
    ],
)
def test_a_stack_file_name_gives_the_stack_name(
    file: str, stack: str | None, tmp_path: Path
) -> None:
    assert stack_of(file) == stack
    if stack:
        assert file in (
            stack_file(tmp_path, f"organization/project/{stack}").name,
            policies_file(tmp_path, stack).name,
        )


def test_stacks_created_by_hand_are_not_changed(project: Project) -> None:
    own = project.folder / "Pulumi.mine.yaml"
    own.write_text("encryptionsalt: mine\n")

    project.write()

    assert own.read_text() == "encryptionsalt: mine\n"


def test_a_program_in_another_folder_runs_in_this_environment(project: Project) -> None:
    (project.program / "Pulumi.yaml").write_text(yaml.safe_dump(REAL | {"main": "infra"}))
    project.write()
    own = read(project.folder / "Pulumi.yaml")
    assert (project.folder / own["main"]).resolve() == project.program / "infra"
    assert own["runtime"]["options"]["virtualenv"] == sys.prefix

    (project.program / ".venv").mkdir()
    project.write()
    own = read(project.folder / "Pulumi.yaml")
    assert own["runtime"]["options"]["virtualenv"] == str(project.program / ".venv")


def test_a_project_accepts_text_in_place_of_the_stack_file(project: Project) -> None:
    write_stack(project, {"config": {"aks-gpu:location": "eastus"}})
    earlier = "config: {aks-gpu:location: westeurope}"

    project.write_stack("dev", earlier)

    assert read(project.folder / "Pulumi.dev.yaml") == yaml.safe_load(earlier)


@pytest.mark.parametrize("folder_key", ["stackConfigDir", "config"])
def test_stack_files_are_in_the_folder_of_the_project_file(
    project: Project, folder_key: str
) -> None:
    real = {key: value for key, value in REAL.items() if key != "config"} | {folder_key: "stacks"}
    (project.program / "Pulumi.yaml").write_text(yaml.safe_dump(real))
    (project.program / "stacks").mkdir()
    (project.program / "stacks" / "Pulumi.dev.yaml").write_text("config: {a: b}")
    (project.program / "stacks" / "Pulumi.dev.policies.json").write_text("{}")

    project.write()
    project.write_stack("dev")

    assert read(project.folder / "Pulumi.dev.yaml") == {"config": {"a": "b"}}
    assert folder_key not in read(project.folder / "Pulumi.yaml")
    configuration = project.program / "stacks" / "Pulumi.dev.policies.json"
    assert project.configuration_of_the_pack("dev") == configuration


def test_each_home_has_its_own_passphrase(project: Project, tmp_path: Path) -> None:
    """It was the word `rehearsal`, which was masked wherever a report said it."""
    word = project.environment()["PULUMI_CONFIG_PASSPHRASE"]
    assert len(word) > 30
    assert Project(project.program, project.home).passphrase == word
    assert Project(project.program, tmp_path / "other").passphrase != word
    assert (project.home / "passphrase").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o700
    (project.home / "passphrase").write_text("")
    assert len(project.passphrase) > 30


def test_two_commands_have_one_passphrase(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One removed the file that the other had written at this moment, and had read already."""
    other, read_files, unlink = Project(project.program, tmp_path / "new"), list[str](), Path.unlink

    def between(file: Path, *, missing_ok: bool = False) -> None:
        if file.name == "passphrase" and not read_files:
            read_files.append("")
            read_files.append(other.passphrase)
        unlink(file, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", between)
    word = other.passphrase
    assert {*read_files[1:], word} == {word}


@pytest.mark.parametrize("plugins", [None, {}, {"providers": None}])
def test_a_project_may_have_no_plug_ins(project: Project, plugins: Any) -> None:
    real = project.program / "Pulumi.yaml"
    real.write_text(yaml.safe_dump({"name": "a", "runtime": "python", "plugins": plugins}))
    project.write()


@pytest.mark.parametrize(
    "plugins", ["x", [1], {"providers": "x"}, {"providers": [{"name": "a"}]}, {"providers": 1}]
)
def test_unreadable_plug_ins_are_reported(project: Project, plugins: Any) -> None:
    """It ended with a traceback."""
    real = project.program / "Pulumi.yaml"
    real.write_text(yaml.safe_dump({"name": "a", "runtime": "python", "plugins": plugins}))
    with pytest.raises(StackFileError, match=r"Pulumi\.yaml: .*needs a name and a path"):
        project.write()


@pytest.mark.parametrize("name", ["Pulumi.yaml", "Pulumi.dev.yaml"])
@pytest.mark.parametrize(
    "damage",
    [b"", b"a: [", b"[1]", b"\0\0\0", b"\xff\xfe\x80"],
    ids=["empty", "no YAML", "no map", "zeros", "no text"],
)
def test_a_damaged_copy_is_written_again(project: Project, name: str, damage: bytes) -> None:
    """Every command ended with the advice to correct the copy, whose original was fine."""
    write_stack(project, {"config": {"aks-gpu:location": "eastus"}})
    project.write_stack("dev")
    whole = read(project.folder / name)
    (project.folder / name).write_bytes(damage)

    project.write()
    project.write_stack("dev")

    assert read(project.folder / name) == whole


def test_a_program_can_read_the_settings_of_azure_native(project: Project) -> None:
    """It was told that `azure-native:tenantId` is missing, which its stack file had."""
    real = project.program / "Pulumi.dev.yaml"
    real.write_text(
        "config:\n  azure-native:tenantId: theirs\n  azure-native:clientId: {secure: v1:a}\n"
        "  azuread:tenantId: theirs\n  azure-native:useOidc: true\n  azure-native:location: a\n"
    )
    principal = load_principal(Home(project.home))
    project.write()
    project.write_stack("dev")
    content = yaml.safe_load((project.folder / "Pulumi.dev.yaml").read_text())
    assert content["config"] == {
        "azure-native:tenantId": principal.tenant,
        "azure-native:clientId": principal.client_id,
        "azuread:tenantId": principal.tenant,
        "azure-native:location": "a",
    }


def test_plug_ins_of_the_owner_are_found(project: Project, engine: Engine, tmp_path: Path) -> None:
    """`pulumi plugin install`, which the error advised, changed nothing in the rehearsal."""
    theirs = tmp_path / "plugins"
    (theirs / "resource-random-v4.16.0").mkdir(parents=True)
    (theirs / "resource-random-v4.16.0" / "pulumi-resource-random").touch(0o755)
    project.share_plug_ins(tmp_path / "none")
    project.share_plug_ins(theirs)
    project.share_plug_ins(theirs)
    project.write()
    listed = subprocess.check_output(
        [str(engine.pulumi), "plugin", "ls", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PULUMI_HOME": project.environment()["PULUMI_HOME"]},
        text=True,
    )
    assert [plugin["name"] for plugin in json.loads(listed)] == ["random"]


def test_the_project_of_another_team_keeps_what_its_program_runs_with(tmp_path: Path) -> None:
    """Its poetry became our pip, its package was looked for beside the rehearsal's own file."""
    packages: dict[str, Any] = {
        "a": "./sdk",
        "b": {"source": "./sdk", "version": "1.0.0"},
        "c": "random",
    }
    runtime = {"name": "python", "options": {"toolchain": "poetry"}}
    written = {"name": "theirs", "runtime": runtime, "packages": packages}
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump(written))
    project = Project(tmp_path, tmp_path / ".rehearsal", keeps_runtime=True)

    project.write()

    content = yaml.safe_load((project.folder / "Pulumi.yaml").read_text())
    sdk = str(tmp_path / "sdk")
    assert content["runtime"] == runtime
    assert content["packages"] == {"a": sdk, "b": packages["b"] | {"source": sdk}, "c": "random"}


@pytest.mark.parametrize("runtime", ["yaml", {"name": "python", "options": {"virtualenv": "own"}}])
def test_a_change_does_not_choose_what_a_review_runs_with(tmp_path: Path, runtime: Any) -> None:
    """The report says that another runtime was not tried, and for an hour it was."""
    (tmp_path / "own").mkdir()
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "ours", "runtime": runtime}))
    project = Project(tmp_path, tmp_path / ".rehearsal")

    project.write()

    content = yaml.safe_load((project.folder / "Pulumi.yaml").read_text())
    assert content["runtime"] == {"name": "python", "options": {"virtualenv": sys.prefix}}
