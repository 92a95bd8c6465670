"""An audit with the engine: a backend with stacks, and fifty exports with twenty pools each."""

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest

from aksgpu.audit.stacks import Auditor
from aksgpu.rehearsal_stage import pulumi_in
from machine_setup import Engine
from tests.bench import ROOT, Bench
from tests.names import unique
from tests.test_stacks_on_engine import POOL, stack, up

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

STATE = ROOT / "tests" / "aksgpu" / "check" / "states" / "prod.json"
PACK = ROOT / "policies"
# Two free cores take 19 seconds. With another suite beside it, it took 71.
MOST_SECONDS = 180.0


def test_all_stacks_of_a_backend_are_judged(engine: Engine, bench: Bench, tmp_path: Path) -> None:
    name = unique("audit")
    up(bench, stack(name, {**POOL, "tainted": False}))
    pulumi = pulumi_in(engine, bench.folder / "project", bench.environment)
    told: list[str] = []
    found = Auditor(pulumi, PACK, tmp_path, told.append).of_backend()
    (own,) = [audited for audited in found if audited.resources]
    assert own.name.endswith("test")
    assert told == [audited.name for audited in found]
    rules = {(one.rule, one.resource, one.is_mandatory) for one in own.broken}
    assert ("gpu-pool-tainted", "gpu", False) in rules
    assert [(pool.name, region) for pool, region in own.pools] == [
        ("system", "eastus"), ("gpu", "eastus")
    ]  # fmt: skip


def fifty(folder: Path) -> list[Path]:
    """Exports with twenty pools each, of which one breaks a mandatory rule."""
    state: dict[str, Any] = json.loads(STATE.read_text())
    resources = state["deployment"]["resources"]
    (pool,) = [one for one in resources if one["urn"].endswith("AgentPool::t4")]
    files = []
    for number in range(50):
        more = [copy.deepcopy(pool) for _ in range(17)]
        for index, one in enumerate(more):
            one["urn"] = f"{pool['urn']}{index}"
            one["id"] = f"{pool['id']}{index}"
            one["inputs"]["agentPoolName"] = f"t4{index}"
        if number == 7:
            more[0]["inputs"]["osType"] = more[0]["outputs"]["osType"] = "Windows"
        whole = {**state, "deployment": {**state["deployment"], "resources": [*resources, *more]}}
        files.append(folder / f"stack{number}.json")
        files[-1].write_text(json.dumps(whole))
    return files


@pytest.mark.nightly
def test_fifty_stacks_of_twenty_pools_are_audited_together(engine: Engine, tmp_path: Path) -> None:
    files = fifty(tmp_path)
    auditor = Auditor(pulumi_in(engine, tmp_path), PACK, tmp_path, lambda _: None)
    began = time.monotonic()
    found = auditor.of_files(files)
    assert time.monotonic() - began < MOST_SECONDS
    assert [audited.reason for audited in found] == [""] * 50
    assert {len([*audited.pools]) for audited in found} == {21}
    mandatory = {
        (audited.name, one.rule) for audited in found for one in audited.broken if one.is_mandatory
    }
    assert mandatory == {("stack7", "gpu-pool-linux-only")}
