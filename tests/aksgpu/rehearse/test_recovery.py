"""What is killed in the middle of an update, and what `make rehearse` makes of it."""

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aksgpu.project import Project
from aksgpu.rehearse import state
from aksgpu.rehearse.leftovers import needs_recovery
from aksgpu.rehearse.recovery import recover
from aksgpu.running import Program
from engine import Engine
from rehearsal import cloud
from tests.aks_preview.conftest import PreviewBench
from tests.bench import ROOT
from tests.faults import Faults
from tests.processes import descendants, is_running
from tests.waiting import PATIENCE, until

pytestmark = [pytest.mark.engine, pytest.mark.long]

ENGINE, NATIVE, PREVIEW = "", "stand_ins/azure_native", "aks_preview"
# What Azure does with the request in the middle of which something is killed.
TAKEN: dict[str, Any] = {"operation": "stuck"}
THROTTLED = {"status": 429, "headers": {"Retry-After": "1000"}}
FAILING = {"operation": {"code": "Broken", "message": "Something broke."}}


@dataclass(frozen=True)
class Moment:
    """Who is killed once Azure has answered a request, and how Azure has."""

    victim: str
    method: str
    path: str
    answer: dict[str, Any]


def program(group: str, *, size: str = "NC8as", header: str = "a", pools: bool = True) -> str:
    """A group, a cluster, and a pool of each of the two providers, which changes replace."""
    text = f"""
import pulumi
from aks_preview.resources import AgentPool
from pulumi_azure_native import containerservice as aks, resources

class Parent(pulumi.ComponentResource):
    def __init__(self):
        super().__init__("aks-gpu:tests:Parent", "parent")

own = pulumi.ResourceOptions(
    parent=Parent(), delete_before_replace=True, replace_on_changes=["vmSize"])
group = resources.ResourceGroup("group", resource_group_name={group!r}, location="eastus")
cluster = aks.ManagedCluster(
    "cluster", resource_group_name=group.name, resource_name_="aks", dns_prefix="aks",
    location="eastus", identity={{"type": "SystemAssigned"}}, agent_pool_profiles=[
        {{"name": "sys", "mode": "System", "count": 1, "vm_size": "Standard_D4s_v5"}}])
"""
    pair = f"""
names = dict(resource_group_name=group.name, resource_name_=cluster.name)
first = aks.AgentPool(
    "native", agent_pool_name="native", vm_size="Standard_{size}_T4_v3", count=1, opts=own, **names)
AgentPool(
    "preview", aks.AgentPoolArgs(
        resource_group_name=group.name, resource_name=cluster.name, agent_pool_name="preview",
        vm_size="Standard_NC8as_T4_v3", count=1),
    custom_headers={{"X-Own": {header!r}}}, replace_on_header_change=True,
    opts=pulumi.ResourceOptions(parent=own.parent, depends_on=[first]))
"""
    return text + pair if pools else text


@dataclass
class Story:
    """A stack whose updates are killed, each in one moment, and gone on with."""

    bench: PreviewBench
    faults: Faults
    messages: list[str] = field(default_factory=list)

    def killed(self, text: str, moment: Moment) -> None:
        self.faults.script({"method": moment.method, "path": moment.path, **moment.answer})
        before = len(self.bench.requests(moment.method))
        with self.bench.running_up(text) as update:
            until(
                lambda: self._asked(moment, before) or update.poll() is not None,
                f"Azure is asked: {moment}",
            )
            assert self._asked(moment, before), update.communicate()[0]
            begun = descendants(update.pid)
            victims = [one for one, line in begun.items() if moment.victim in line]
            for one in victims if moment.victim else [update.pid]:
                os.kill(one, signal.SIGKILL)
            update.communicate(timeout=PATIENCE)
        assert update.returncode
        until(lambda: not any(map(is_running, begun)), f"none of {begun} is left")

    def _asked(self, moment: Moment, before: int) -> bool:
        sent = self.bench.requests(moment.method)[before:]
        return any(re.search(moment.path, each["path"], re.IGNORECASE) for each in sent)

    def recovered(self) -> None:
        """Recovers as `make rehearse` does; Azure is done no sooner than somebody waits for it."""

        def say(line: str) -> None:
            self.messages.append(line)
            if line.startswith("Waiting for Azure"):
                self.faults.lift()

        pulumi = Program(
            (self.bench.engine.pulumi,), self.bench.folder / "project", self.bench.environment
        )
        home, now = self.bench.folder / "state", state.read_or_init(pulumi, "test")
        has_locks = Project(ROOT, self.bench.folder).has_locks("test")
        if has_locks or needs_recovery(now, home, self.bench.cloud.request_log):
            recover(pulumi, "test", home, self.bench.cloud, say)
        self.faults.lift()

    def comes_to(self, text: str) -> None:
        """An update ends as the program says, and Azure has that."""
        self.bench.up(text)
        # A refresh brings the pools into the list of their cluster, and the next update writes it.
        assert self.bench.changes("--refresh").keys() <= {"cluster"}
        states = {
            name: resource["outputs"].get("provisioningState", "Succeeded")
            for name, resource in self.bench.resources().items()
            if resource["custom"]
        }
        assert set(states.values()) == {"Succeeded"}, states


@pytest.fixture
def story(engine: Engine, tmp_path: Path) -> Iterator[Story]:
    home = tmp_path / "cloud"
    try:
        own = cloud.start(home, 0.005)
        yield Story(PreviewBench(engine, own, tmp_path).begin(), Faults(home))
    finally:
        cloud.stop(home)


def test_a_rehearsal_continues_after_any_kill(story: Story) -> None:
    """One life: each update goes on from where the one before was killed."""
    first = program("g")
    for moment in [
        Moment(ENGINE, "PUT", "resourcegroups/g$", THROTTLED),
        Moment(NATIVE, "PUT", "managedClusters/aks$", TAKEN),
        Moment(ENGINE, "PUT", "agentPools/native$", TAKEN),
        Moment(PREVIEW, "PUT", "agentPools/preview$", TAKEN),
    ]:
        story.killed(first, moment)
        story.recovered()

    # The second halves of replacements.
    second = program("g", size="NC16as", header="b")
    for moment in [
        Moment(NATIVE, "PUT", "agentPools/native$", TAKEN),
        Moment(ENGINE, "PUT", "agentPools/preview$", FAILING),
    ]:
        story.killed(second, moment)
        story.recovered()
    story.comes_to(second)
    pool = story.bench.resources()["preview"]
    assert pool["inputs"]["customHeaders"] == {"X-Own": "b"}
    assert pool["parent"].endswith("::parent")

    last = program("g", pools=False)
    story.killed(last, Moment(ENGINE, "DELETE", "agentPools/preview$", TAKEN))
    story.recovered()
    story.comes_to(last)
