"""A day with the rehearsal, on the real engine: refused, mended, drifted, changed, by hand."""

import asyncio
import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu import rehearsal_stage
from aksgpu.rehearse import command, shell
from aksgpu.rehearse.shell import kubeconfig_of
from aksgpu.report import ReportConsole
from engine import ensure_kubernetes
from kube.client import Client
from kube.kubeconfig import choose, connect, read
from rehearsal import cloud
from tests.bench import ROOT
from tests.request_log import RequestLog

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = {"name": "small", "vmSize": "Standard_NV6ads_A10_v5", "count": 1}
STACK = {
    "resourceGroup": {"name": "team"},
    "cluster": {"name": "team", "protect": False},
    "gpuPools": [POOL],
}
DAEMON_SET = "/apis/apps/v1/namespaces/gpu-resources/daemonsets/nvidia-device-plugin-daemonset"


class Checkout:
    """A checkout of this program with a stack of its own, and its rehearsal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        linked = {"Pulumi.yaml", ".venv", "aks_preview", "policies"}
        for path in ROOT.iterdir():
            if path.name in linked or path.suffix == ".py":
                (folder / path.name).symlink_to(path)
        self.home = folder / ".rehearsal"
        self.log = RequestLog(self.home / "requests.jsonl")

    def says(self, **changes: Any) -> None:
        config = {f"aks-gpu:{key}": value for key, value in (STACK | changes).items()}
        (self.folder / "Pulumi.team.yaml").write_text(yaml.safe_dump({"config": config}))

    def rehearse(self, code: int = 0) -> str:
        page = io.StringIO()
        assert command.rehearse("team", ReportConsole(file=page, width=500)) == code
        return page.getvalue()

    def writes(self) -> int:
        return sum(line["method"] in ("PUT", "DELETE") for line in self.log.lines())


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    made = Checkout(tmp_path)
    monkeypatch.setenv("AKS_GPU_REHEARSAL_ROOT", str(tmp_path))
    for module in (command, rehearsal_stage):
        monkeypatch.setattr(module, "PROGRAM", tmp_path)
    cloud.start(made.home, 0.05, kubernetes=ensure_kubernetes().folder)
    yield made
    cloud.stop(made.home)


def test_a_stack_is_rehearsed_through_its_mistakes_and_changes(checkout: Checkout) -> None:
    checkout.says()
    output = checkout.rehearse(code=1)
    assert output.splitlines()[-2:] == ["    make rehearse STACK=team", ""]
    for word in ("gpu-pool-minimum-size", "acceptedSizes", "Pulumi.team.policies.json"):
        assert word in output
    assert "Azure accepted" not in output
    assert not checkout.writes()

    # This key moved the rehearsal to the Azure of 2021, which offers the size.
    checkout.says(allowRetired=True, gpuPools=[POOL | {"vmSize": "Standard_NC6s_v3"}])
    assert "Result: size-retired" in checkout.rehearse(code=1)

    size = POOL | {"vmSize": "Standard_NC8as_T4_v3"}
    checkout.says(gpuPools=[size])
    assert "Standard_NC8as_T4_v3" in checkout.rehearse()
    before = checkout.writes()
    assert "No changes" in checkout.rehearse()
    assert checkout.writes() == before

    asyncio.run(delete_the_plugin(checkout.home))
    output = checkout.rehearse()
    assert "device-plugin (DaemonSet) was deleted" in output
    assert "1 of 1 ready" in output

    checkout.says(gpuPools=[size | {"vmSize": "Standard_NC16as_T4_v3"}])
    assert "The GPU pool small (Standard_NC8as_T4_v3, 1 node) is replaced" in checkout.rehearse()

    by_hand(checkout)


async def delete_the_plugin(home: Path) -> None:
    client = Client(await connect(choose(read(kubeconfig_of(home, "team"))), {}))
    await client.delete(DAEMON_SET)
    await client.close()


def by_hand(checkout: Checkout) -> None:
    """Plain `pulumi`, in the checkout itself: an edit is seen, the pack asked, no file written."""
    lines = "\n".join(commands_to_enter())
    checkout.says(gpuPools=[POOL])
    there = {path: path.read_bytes() for path in checkout.folder.glob("Pulumi*.yaml")}
    ended = subprocess.run(
        ["bash", "-c", f"{lines}\npulumi preview --non-interactive"],  # noqa: S607
        cwd=checkout.folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0, ended.stdout
    assert "gpu-pool-minimum-size" in ended.stdout
    assert {path: path.read_bytes() for path in checkout.folder.glob("Pulumi*.yaml")} == there


def commands_to_enter() -> list[str]:
    stage = rehearsal_stage.set_stage(print)
    return [*shell.commands_to_enter(stage, "team", os.environ)]
