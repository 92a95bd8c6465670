"""Another team rehearses a program of its own, which has nothing of this project."""

import subprocess
from pathlib import Path

import pytest

from tests.bench import AKSGPU, ROOT
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROGRAM = """
import base64
import pulumi
from components import NAME
from pulumi_azure_native import containerservice, resources

size = pulumi.Config().require("size")
group = resources.ResourceGroup("group", resource_group_name=NAME, location="eastus")
cluster = containerservice.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_=NAME, location="eastus",
    dns_prefix=NAME, identity={"type": "SystemAssigned"},
    agent_pool_profiles=[
        {"name": "system", "count": 1, "vm_size": "Standard_D4ds_v5", "mode": "System"},
    ],
)
pool = containerservice.AgentPool(
    "gpu", resource_group_name=group.name, resource_name_=cluster.name, agent_pool_name="gpu",
    count=1, vm_size=size, mode="User", os_type=OS_TYPE,
)
access = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
decoded = access.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode())
pulumi.export("kubeconfig", pulumi.Output.secret(decoded))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    # A folder of the name of one of ours.
    (folder / "components").mkdir(parents=True)
    (folder / "components" / "__init__.py").write_text('NAME = "theirs"\n')
    (folder / "Pulumi.yaml").write_text("name: theirs\nruntime: python\n")
    # Of a pack of theirs, which is elsewhere: Pulumi refuses it where there is no pack.
    (folder / "Pulumi.dev.policies.json").write_text("{}")
    (folder / "Pulumi.dev.yaml").write_text("config:\n  theirs:size: Standard_NC8as_T4_v3\n")
    write(folder, "Linux")
    return folder


def write(folder: Path, os_type: str) -> None:
    (folder / "__main__.py").write_text(PROGRAM.replace("OS_TYPE", repr(os_type)))


def run(folder: Path, command: str, *options: str) -> tuple[int, str]:
    ended = subprocess.run(
        [AKSGPU, command, "--project", ".", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    return ended.returncode, ended.stdout


def test_a_program_of_another_team_is_rehearsed_with_and_without_our_pack(program: Path) -> None:
    """Only the program of this checkout could be rehearsed."""
    pack = ("--policy-pack", str(ROOT / "policies"))
    try:
        write(program, "Windows")
        code, printed = run(program, "rehearse", *pack)
        assert code == 1, printed
        assert "gpu-pool-linux-only" in printed
        assert "Nothing was changed." in printed
        # What is printed here once created what was refused.
        assert f"rehearse --policy-pack {ROOT / 'policies'} --project" in " ".join(printed.split())

        write(program, "Linux")
        code, printed = run(program, "rehearse")
        # It has keys, and lies in another team's repository.
        assert (program / ".rehearsal" / ".gitignore").read_text() == "*\n"
        # Its cluster has a GPU, and nothing that offers it to pods.
        assert (code, "plugin-missing" in printed) == (1, True), printed
        assert "with the policy pack" not in printed
        rows = [line.split()[:2] for line in printed.splitlines()]
        assert ["ManagedCluster", "theirs"] in rows
        assert ["AgentPool", "gpu"] in rows

        code, printed = run(program, "rehearse", *pack)
        assert "Previewing dev with the policy pack" in printed
        assert "Advisory findings: gpu-pool-" in printed
        assert run(program, "status")[1].count("stacks: dev") == 1
        code, printed = run(program, "env")
        lines = f'eval "$({AKSGPU} env --project .)"\nkubectl get nodes --output name\n'
        shell = subprocess.run(
            ["bash", "-ec", lines],  # noqa: S607
            cwd=program, stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        assert len(shell.stdout.splitlines()) == 2
    finally:
        code, printed = run(program, "rehearse-down")
    assert "The stack dev is destroyed." in printed
    assert not (program / ".rehearsal").exists()
    assert "theirs" not in (program / "Pulumi.dev.yaml").read_text().replace("theirs:size", "")
