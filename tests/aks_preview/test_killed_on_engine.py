"""After an update of a real stack was killed: what errors and pages say, typed as it stands."""

import os
import re
import signal
import subprocess

import pytest

from tests.aks_preview.conftest import Aks, PreviewBench
from tests.bench import ROOT
from tests.faults import Faults
from tests.processes import descendants, is_running
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PLUG_INS = ("offline_plug_ins/azure_native", "aks_preview")
OF_AZURE_NATIVE = re.compile(
    r"(?P<TYPE>azure-native:\S+) \((?P<RESOURCE>\w+)\):\n"
    r"\s+error: cannot create already existing resource '(?P<ID>[^']+)'"
)
OF_AKS_PREVIEW = re.compile(r"`(AKS_PREVIEW_TAKE_OVER=\S+\s+pulumi up)`")


def commands(page: str, heading: str) -> list[str]:
    """The indented lines of a section."""
    section = re.split(rf"\n#+ {heading}\n", (ROOT / "docs" / page).read_text())[1]
    return re.findall(r"^ {4,}(.*pulumi .*)$", re.split(r"\n#+ ", section)[0], re.MULTILINE)


AFTER_A_LOSS = commands("ci.md", "After a lost machine")
AFTER_A_KILL = commands("aks-preview.md", "If Pulumi or the provider was killed")


class User:
    """Somebody who types what he reads, and fills in what stands in capitals."""

    def __init__(self, bench: PreviewBench) -> None:
        self.bench = bench

    def type(self, command: str, **options: str) -> subprocess.CompletedProcess[str]:
        for word, meaning in {"NAME": "test", **options}.items():
            command = re.sub(rf"\b{word}\b", meaning, command)
        environment = self.bench.environment
        return subprocess.run(
            ["bash", "-c", command],  # noqa: S607 (the user's shell)
            cwd=self.bench.folder / "project",
            # He answers every question with yes.
            env=environment | {"PULUMI_SKIP_CONFIRMATIONS": "true"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def goes_on(self) -> set[str]:
        """Does what pulumi and the pages say until an update ends well; which errors there were."""
        cancel, refresh, up, bring_in, forget = AFTER_A_LOSS
        assert [cancel, refresh] == [
            f"{AFTER_A_KILL[0]} --stack NAME",
            AFTER_A_KILL[2].replace("refresh", "refresh --stack NAME"),
        ]
        met = set()
        for each in (cancel, refresh):
            ended = self.type(each)
            assert not ended.returncode, ended.stdout
        while (ended := self.type(up)).returncode:
            if wrong := OF_AKS_PREVIEW.search(ended.stdout):
                met.add("aks-preview")
                # It stops where azure-native's is still to be brought in.
                self.type(wrong[1])
            elif wrong := OF_AZURE_NATIVE.search(ended.stdout):
                met.add("azure-native")
                urns = {name: one["urn"] for name, one in self.bench.resources().items()}
                words = {**wrong.groupdict(), "URN": urns.get(wrong["RESOURCE"], "")}
                if words["URN"]:
                    assert not self.type(forget, **words).returncode
                brought = self.type(bring_in, **words | {"URN": urns["parent"]})
                assert not brought.returncode, brought.stdout
            else:
                pytest.fail(ended.stdout)
        return met


def program(group: str, *, pools: bool, size: str = "NC8as", header: str = "a") -> str:
    """A cluster of each provider, each with a pool, all of them below a component."""
    text = f"""
import pulumi
from aks_preview.resources import AgentPool, ManagedCluster
from pulumi_azure_native import containerservice as aks

own = pulumi.ResourceOptions(
    parent=pulumi.ComponentResource("aks-gpu:tests:Parent", "parent"),
    delete_before_replace=True, replace_on_changes=["vmSize"])
system = aks.ManagedClusterAgentPoolProfileArgs(
    name="sys", mode="System", count=1, vm_size="Standard_D4s_v5")
more = dict(
    location="eastus", identity=aks.ManagedClusterIdentityArgs(type="SystemAssigned"),
    agent_pool_profiles=[system])
native = aks.ManagedCluster(
    "native", resource_group_name={group!r}, resource_name_="native", dns_prefix="n", opts=own,
    **more)
preview = ManagedCluster(
    "preview", aks.ManagedClusterArgs(
        resource_group_name={group!r}, resource_name="preview", dns_prefix="p", **more),
    custom_headers={{"X-Own": "a"}}, opts=own)
"""
    pair = f"""
aks.AgentPool(
    "nativepool", resource_group_name={group!r}, resource_name_=native.name, opts=own,
    agent_pool_name="native", vm_size="Standard_{size}_T4_v3", count=1)
AgentPool(
    "previewpool", aks.AgentPoolArgs(
        resource_group_name={group!r}, resource_name=preview.name, agent_pool_name="preview",
        vm_size="Standard_NC8as_T4_v3", count=1),
    custom_headers={{"X-Own": {header!r}}}, replace_on_header_change=True, opts=own)
"""
    return text + pair if pools else text


def test_a_resource_named_by_take_over_is_adopted_after_a_kill(
    preview_bench: PreviewBench, aks: Aks, faults: Faults
) -> None:
    """Imports made a second pool, without parent, and of a replacement they did nothing.

    Killed are the engine, while clusters and while pools are made, and then both plug-ins, in the
    second halves of replacements.
    """
    user, both = User(preview_bench), {"aks-preview", "azure-native"}

    def kill(text: str, path: str, *, plug_ins: bool = False) -> None:
        faults.script({"method": "PUT", "path": path, "operation": "stuck"})
        made = len(asked(preview_bench, path))
        with preview_bench.running_up(text) as update:
            until(
                lambda: len(asked(preview_bench, path)) == made + 2 or update.poll() is not None,
                f"Azure makes both of {path}",
            )
            begun = descendants(update.pid)
            killed = [
                process for process, line in begun.items() if any(name in line for name in PLUG_INS)
            ]
            assert killed, update.communicate()[0]
            for process in killed if plug_ins else [update.pid]:
                os.kill(process, signal.SIGKILL)
            update.communicate(timeout=PATIENCE)
        # What it has started ends by itself: nobody is left to work for.
        until(lambda: not any(map(is_running, begun)), f"none of {begun} is left")
        faults.lift()

    group = aks.group
    kill(program(group, pools=False), "managedClusters/(native|preview)$")
    imports_nothing(user, aks)
    assert user.goes_on() == both
    kill(program(group, pools=True), "agentPools/(native|preview)$")
    assert user.goes_on() == both
    changed = program(group, pools=True, size="NC16as", header="b")
    kill(changed, "agentPools/(native|preview)$", plug_ins=True)
    assert user.goes_on() == both

    whole = preview_bench.resources()
    assert {one["parent"].rpartition("::")[2] for one in whole.values() if one["custom"]} == {
        "parent"
    }
    assert not any(one.get("protect") for one in whole.values())
    assert whole["previewpool"]["inputs"]["customHeaders"] == {"X-Own": "b"}
    assert whole["nativepool"]["outputs"]["vmSize"] == "Standard_NC16as_T4_v3"
    assert preview_bench.changes() == {}


def imports_nothing(user: User, aks: Aks) -> None:
    """Pulumi's own way, which would spare an import: the engine forgets what it shall import."""
    user.type("pulumi cancel")
    deployment = user.bench.deployment()
    pending = {operation["resource"]["urn"] for operation in deployment["pending_operations"]}
    assert len(pending) == 2
    clusters = f"{aks.azure.subscription}{aks.path.rpartition('/')[0]}"
    options = [
        f"--import-pending-creates '{word}'"
        for urn in pending
        for word in (urn, f"{clusters}/{urn.rpartition('::')[2]}")
    ]
    ended = user.type(f"pulumi refresh --skip-preview {' '.join(options)}")
    assert not ended.returncode, ended.stdout
    after = user.bench.deployment()
    assert not after.get("pending_operations")
    assert {one["urn"] for one in after["resources"]}.isdisjoint(pending)


def asked(bench: PreviewBench, path: str) -> list[str]:
    return [
        put["path"]
        for put in bench.requests("PUT")
        if re.search(path, put["path"], re.IGNORECASE) and put["status"] == 201
    ]
