"""The script that sets Azure up: with a stand-in for az, and each command read by the real one."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from machine_setup.progress import to_stderr
from tests.article.azure_cli import ensure_azure_cli
from tests.bench import ROOT

pytestmark = pytest.mark.nightly

SCRIPT = ROOT / ".ci" / "set-up-azure"
NAMES = {"REPOSITORY": "o/r", "STATE_ACCOUNT": "ourstate", "VAULT": "ourkeys"}
# Keeps what was created, shows only that, and notes each command.
AZ = """#!{python} -IS
import json, pathlib, sys
words = sys.argv[1:]
here = pathlib.Path(__file__).parent
with (here / "called").open("a") as called:
    called.write(json.dumps(words) + "\\n")
verbs = ("show", "create", "assignment", "update", "rest", "register")
verb = next(word for word in words if word in verbs)
def value(*options):
    return next((words[words.index(each) + 1] for each in options if each in words), "")
kind = " ".join(words[:words.index(verb)])
name = value("--identity-name") + value("--name", "--resource-group")
thing = here / "made" / (kind + " " + name).replace("/", "_")
if verb == "create":
    if thing.exists():
        sys.exit("already exists: " + thing.name)
    thing.parent.mkdir(exist_ok=True)
    thing.touch()
elif verb == "show" and words[0] not in ("account", "ad") and not thing.exists():
    sys.exit(3)
elif "--query" in words:
    print({"id": "/id/" + name, "principalId": "of-" + name}.get(value("--query"), "value"))
"""
OF_STATE = "/id/ourstate/blobServices/default/containers/dev"
OF_KEY = "/id/ourkeys/keys/dev"
OF_GROUP = "/subscriptions//id//resourceGroups/gpu-dev"
IN_THE_CLUSTER = ("Azure Kubernetes Service RBAC Cluster Admin", OF_GROUP)
ROLES = {
    "of-aks-gpu-preview": {
        ("Reader", "/subscriptions//id/"),
        ("Storage Blob Data Reader", OF_STATE),
    },
    "of-aks-gpu-dev-plan": {
        ("Reader", OF_GROUP),
        ("Azure Kubernetes Service Cluster User Role", OF_GROUP),
        IN_THE_CLUSTER,
        ("Storage Blob Data Reader", OF_STATE),
        ("Key Vault Crypto User", OF_KEY),
    },
    "of-aks-gpu-dev-deploy": {
        ("Contributor", OF_GROUP),
        IN_THE_CLUSTER,
        ("Storage Blob Data Contributor", OF_STATE),
        ("Key Vault Crypto User", OF_KEY),
    },
    "/id/": {("Storage Blob Data Contributor", OF_STATE), ("Key Vault Crypto User", OF_KEY)},
}


def run(folder: Path, *arguments: str, names: Mapping[str, str] = NAMES) -> tuple[int, str]:
    az = folder / "az"
    az.write_text(AZ.replace("{python}", sys.executable))
    az.chmod(0o755)
    (folder / "called").unlink(missing_ok=True)
    ended = subprocess.run(
        [SCRIPT, *arguments],
        env={"PATH": f"{folder}:{os.environ['PATH']}", **names},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def called(folder: Path) -> list[list[str]]:
    file = folder / "called"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_it_can_be_run_again_and_for_a_second_stack(tmp_path: Path) -> None:
    """The page's commands failed half way, and could not be repeated: vault and key existed."""
    assert run(tmp_path, "dev", "gpu-dev", "eastus")[0] == 0
    created = [words for words in called(tmp_path) if "create" in words and words[0] != "role"]
    assert len(created) == 11

    code, said = run(tmp_path, "dev", "gpu-dev", "eastus")
    assert code == 0, said
    again = [words for words in called(tmp_path) if "create" in words and words[0] != "role"]
    assert again == []
    # The second stack is elsewhere, and shares the account, the vault and one identity.
    assert run(tmp_path, "prod", "gpu-prod", "westeurope")[0] == 0
    more = [words for words in called(tmp_path) if "create" in words and words[0] != "role"]
    assert len(more) == 6


def test_each_identity_has_its_roles_and_no_other(tmp_path: Path) -> None:
    """One identity was contributor of the whole subscription, the state and its key included."""
    assert run(tmp_path, "dev", "gpu-dev", "eastus")[0] == 0

    found: dict[str, set[tuple[str, str]]] = {}
    for words in called(tmp_path):
        if words[0] == "role":
            options = dict(zip(words[3::2], words[4::2], strict=False))
            role = (options["--role"], options["--scope"])
            found.setdefault(options["--assignee-object-id"], set()).add(role)
    assert found == ROLES
    subjects = [
        words[words.index("--subject") + 1] for words in called(tmp_path) if "--subject" in words
    ]
    assert subjects == [f"repo:o/r:environment:{each}" for each in ("preview", "dev-plan", "dev")]


def test_the_page_names_the_roles_of_each_identity() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    (table,) = re.findall(r"\| role \| on \|.*?\n\n", page, re.DOTALL)
    heading, _, *rows = (
        [cell.strip() for cell in line.split("|")] for line in table.splitlines() if line
    )
    scopes = {
        "the subscription": "/subscriptions//id/",
        "the group": OF_GROUP,
        "the container": OF_STATE,
        "the key": OF_KEY,
    }
    listed: dict[str, set[tuple[str, str]]] = {name: set() for name in heading[3:6]}
    for _, role, on, *cells in rows:
        for name, cell in zip(listed, cells, strict=False):
            if cell == "yes":
                listed[name].add((role, scopes[on]))
    assert list(listed.values()) == list(ROLES.values())[:3]


def test_the_state_can_be_brought_back_and_its_key_cannot_be_purged(tmp_path: Path) -> None:
    assert run(tmp_path, "dev", "gpu-dev", "eastus")[0] == 0
    commands = " ".join(" ".join(words) for words in called(tmp_path))
    for option in (
        "--enable-versioning true", "--enable-delete-retention true", "--retention-days 90",
        "--enable-container-delete-retention true", "--enable-purge-protection true",
        "--allow-shared-key-access false", "--enable-rbac-authorization true",
    ):  # fmt: skip
        assert option in commands


def test_it_says_what_github_and_pulumi_need(tmp_path: Path) -> None:
    said = run(tmp_path, "dev", "gpu-dev", "eastus")[1]
    for environment in ("preview", "dev-plan", "dev"):
        assert f"GitHub's environment {environment}: AZURE_CLIENT_ID=" in said
    assert "PULUMI_BACKEND_URL=azblob://STACK?storage_account=ourstate" in said
    assert "--secrets-provider azurekeyvault://ourkeys.vault.azure.net/keys/dev" in said


@pytest.mark.parametrize("missing", NAMES)
def test_a_missing_name_is_told(tmp_path: Path, missing: str) -> None:
    code, said = run(tmp_path, "dev", "g", "eastus", names={**NAMES, missing: ""})
    assert code != 0
    assert missing in said
    assert "usage: " in said
    assert called(tmp_path) == []


@pytest.mark.parametrize("arguments", [(), ("dev",), ("Prod.eu", "g", "eastus"), ("d", "g", "e")])
def test_wrong_arguments_change_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, said = run(tmp_path, *arguments)
    assert code == 2
    assert len(said.splitlines()) == 1
    assert called(tmp_path) == []


# Reads commands as az does, and runs none.
READ = """
import json, sys
from azure.cli.core import get_default_cli
from azure.cli.core.commands import AzCliCommandInvoker

class ReadError(BaseException):
    pass

def stop(*_):
    raise ReadError

# What comes after reading: checks that ask Azure, and the command itself.
AzCliCommandInvoker._validation = stop
for words in map(json.loads, sys.stdin):
    try:
        get_default_cli().invoke(words)
    except ReadError:
        print(words)
"""


def test_the_real_az_knows_every_command_and_option(tmp_path: Path) -> None:
    """An option that az does not have ends the set-up in the middle."""
    assert run(tmp_path, "dev", "gpu-dev", "eastus")[0] == 0
    commands = {json.dumps(words) for words in called(tmp_path)}
    python = ensure_azure_cli(to_stderr) / "python"
    environment = {**os.environ, "AZURE_CONFIG_DIR": str(tmp_path / "azure")}

    def read(lines: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, "-c", READ], input=lines, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    ended = read("\n".join(sorted(commands)))
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.splitlines()) == len(commands)
    assert read('["group", "create", "--nmae", "x"]').returncode != 0
