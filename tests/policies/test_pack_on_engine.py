"""The policy pack as a reviewer meets it: enforced by the real engine."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.bench import ROOT, STACKS, Bench
from tests.names import unique
from tests.readme_commands import clone
from tests.waiting import PATIENCE

pytestmark = pytest.mark.engine

PACK = ["--policy-pack", str(ROOT / "policies")]

PROGRAM = """
import pulumi
from pulumi_azure_native import containerservice as aks, resources

group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")


def pool(name, **changes):
    valid = dict(
        vm_size="Standard_NC8as_T4_v3", os_type="Linux", count=0, enable_auto_scaling=True,
        min_count=0, max_count=1, node_taints=["sku=gpu:NoSchedule"], resource_name_="c")
    aks.AgentPool(
        name, resource_group_name=group.name, agent_pool_name=name, **{{**valid, **changes}})


{more}
"""
# A finding of the pack in the output: [level] ... rule-name (type: name).
FOUND = re.compile(r"\[(\w+)\].*?  ([a-z-]+)  \(.*: ([\w-]+)\)")


def write(bench: Bench, *lines: str) -> None:
    bench.write(PROGRAM.format(group=unique("pack"), more="\n".join(lines)))


def found(output: str) -> set[tuple[str, str, str]]:
    """Returns the findings in an output: level, rule, and the resource's name."""
    return {(level, rule, name) for level, rule, name in FOUND.findall(output)}


def configured(bench: Bench, config: dict[str, Any]) -> list[str]:
    file = bench.folder / "pack.json"
    file.write_text(json.dumps(config))
    return [*PACK, "--policy-pack-config", str(file)]


def test_mandatory_findings_keep_everything_back(bench: Bench) -> None:
    write(
        bench,
        'pool("windows", os_type="Windows")',
        'pool("small", vm_size="Standard_NV6ads_A10_v5")',
        'pool("smallest", vm_size="Standard_NC4as_T4_v3")',
        'pool("new", vm_size="Standard_NC9_v9")',
        'pool("open", node_taints=[])',
        'pool("good")',
    )

    output = bench.pulumi("up", "--yes", *PACK, fails=True)

    assert found(output) == {
        ("mandatory", "gpu-pool-linux-only", "windows"),
        ("mandatory", "gpu-pool-minimum-size", "small"),
        ("advisory", "gpu-size-unknown", "new"),
        ("advisory", "gpu-pool-tainted", "open"),
    }
    assert "runs Windows. This pack accepts GPUs only on Linux" in output
    assert not bench.requests("PUT")


@pytest.mark.long
@pytest.mark.nightly
def test_the_pack_of_a_clone_has_an_environment_of_its_own(bench: Bench, tmp_path: Path) -> None:
    """A clone at a tag had none, nor the list of what the engine is to install into it."""
    pack = clone(tmp_path / "clone") / "policies"
    write(bench, 'pool("windows", os_type="Windows")')

    install = [str(bench.engine.pulumi), "install"]
    # pip's word for `--no-compile`: half of the work.
    quick = {**bench.environment, "PULUMI_OPTION_CWD": str(pack), "PIP_NO_COMPILE": "0"}
    subprocess.run(install, cwd=pack, env=quick, check=True, timeout=2 * PATIENCE)
    output = bench.pulumi("preview", "--policy-pack", str(pack), fails=True)

    assert found(output) == {("mandatory", "gpu-pool-linux-only", "windows")}
    [packages] = (tmp_path / "clone" / ".venv").glob("lib/*/site-packages")
    assert (packages / "pulumi_policy").exists()
    assert not (packages / "pulumi_azure_native").exists()


@pytest.mark.long
def test_a_kubeconfig_in_clear_becomes_a_secret(bench: Bench) -> None:
    kubeconfig = "kind: Config\nusers: [{user: {token: in-the-clear-1}}]"
    tagged = f'"sealed", location="eastus", tags={{"access": {kubeconfig!r}}}'
    sealed = unique("sealed")
    write(bench, f"resources.ResourceGroup({tagged}, resource_group_name={sealed!r})")

    def inputs() -> dict[str, Any]:
        return dict(bench.resources()["sealed"]["inputs"])

    bench.pulumi("up", "--yes", "--skip-preview")
    assert inputs()["tags"]["access"] == kubeconfig
    output = bench.pulumi("up", "--yes", "--skip-preview", *PACK)

    assert "[remediate]  kubeconfig-secret" in output
    assert "in-the-clear" not in output
    assert "in-the-clear" not in json.dumps(inputs())


@pytest.mark.long
@pytest.mark.parametrize("name", STACKS)
def test_the_stacks_of_this_program_have_no_finding(bench: Bench, name: str) -> None:
    """They had advisory ones for ever, as the program could not do what the pack asked for."""
    bench.write_example(name)
    file = STACKS[name] / f"Pulumi.{name}.policies.json"
    lowered = json.loads(file.read_text()) if file.exists() else {}
    disabled = [rule for rule, output in lowered.items() if "disabled" in str(output)]
    # The bench calls all of its stacks `test`.
    production = {"productionStacks": ["test"] if name == "prod" else []}
    own = {"protect-production-pools": production}

    broken = bench.pulumi("preview", *configured(bench, own))
    left = bench.pulumi("preview", *configured(bench, own | lowered))

    told = {"pack-configuration"}
    assert {rule for _, rule, _ in found(left)} == (told if lowered else set())
    assert "can't run" not in left
    # What is right and stays is lowered, and nothing else; what is made mandatory is kept.
    softened = {rule for rule, output in lowered.items() if "mandatory" not in str(output)}
    assert {rule for _, rule, _ in found(broken)} == softened
    assert all(f"{rule} is disabled" in left for rule in disabled)
    reasons = [exception for rule in softened for exception in lowered[rule].get("exceptions", ())]
    assert all(one["reason"] for one in (*reasons, *(lowered[rule] for rule in disabled)))
