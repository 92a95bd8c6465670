"""A day with the rehearsal, on the real engine: refused, mended, drifted, changed, by hand."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aksgpu import rehearsal_stage
from aksgpu.rehearse import shell
from aksgpu.rehearse.shell import kubeconfig_of
from kube_client.client import Client
from kube_client.kubeconfig import choose, connect, read
from tests.checkout import Checkout

pytestmark = [pytest.mark.engine, pytest.mark.long]

POOL = {"name": "small", "vmSize": "Standard_NV6ads_A10_v5", "count": 1}
NAMED = {"resourceGroup": {"name": "team"}, "cluster": {"name": "team", "protect": False}}
SIZE = POOL | {"vmSize": "Standard_NC8as_T4_v3"}
LARGER = POOL | {"vmSize": "Standard_NC16as_T4_v3"}
DAEMON_SET = "/apis/apps/v1/namespaces/gpu-resources/daemonsets/nvidia-device-plugin-daemonset"


def test_a_stack_is_rehearsed_through_its_mistakes_and_changes(checkout: Checkout) -> None:
    checkout.says(**NAMED, gpuPools=[POOL])
    output = checkout.rehearse(code=1)
    assert output.splitlines()[-2:] == ["    make rehearse STACK=test", ""]
    for word in ("gpu-pool-minimum-size", "acceptedSizes", "Pulumi.test.policies.json"):
        assert word in output
    assert "Azure accepted" not in output
    assert not checkout.writes()

    # This key moved the rehearsal to the Azure of 2021, which offers the size.
    checkout.says(**NAMED, allowRetired=True, gpuPools=[POOL | {"vmSize": "Standard_NC6s_v3"}])
    assert "Result: not-offered" in checkout.rehearse(code=1)

    checkout.says(**NAMED, gpuPools=[SIZE])
    assert "Standard_NC8as_T4_v3" in checkout.rehearse()
    before = checkout.writes()
    assert "No changes" in checkout.rehearse()
    assert checkout.writes() == before

    asyncio.run(delete_the_plugin(checkout.cloud.home))
    output = checkout.rehearse()
    assert "device-plugin (DaemonSet) was deleted" in output
    assert "1 of 1 ready" in output

    checkout.says(**NAMED, gpuPools=[LARGER])
    assert "The GPU pool small (Standard_NC8as_T4_v3, 1 node) is replaced" in checkout.rehearse()

    by_hand(checkout)


async def delete_the_plugin(home: Path) -> None:
    client = Client(await connect(choose(read(kubeconfig_of(home, "test"))), {}))
    await client.delete(DAEMON_SET)
    await client.close()


def by_hand(checkout: Checkout) -> None:
    """Plain `pulumi`, in the checkout itself: an edit is seen, the pack asked, no file written."""
    lines = "\n".join(commands_to_enter())
    checkout.says(**NAMED, gpuPools=[POOL])
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


def changes(checkout: Checkout, *pools: dict[str, Any]) -> None:
    """Rehearses these pools, and sees that nothing is left to do."""
    checkout.says(**NAMED, gpuPools=list(pools))
    checkout.rehearse()
    before = checkout.writes()
    assert "No changes" in checkout.rehearse()
    assert checkout.writes() == before


@pytest.mark.nightly
def test_pools_are_removed_and_rotated(checkout: Checkout) -> None:
    """A refresh lists pools in the cluster's inputs too, where a removed one was expected."""
    other = SIZE | {"name": "other"}
    changes(checkout, SIZE, other)
    changes(checkout, SIZE)
    rotating = {"replacement": "rotate"}
    changes(checkout, SIZE | rotating)
    changes(checkout, LARGER | rotating)
    # Some time later the rotated pool goes, too.
    changes(checkout, other)


def commands_to_enter() -> list[str]:
    stage = rehearsal_stage.set_stage(print)
    return [*shell.commands_to_enter(stage, "test", os.environ)]


@pytest.mark.nightly
def test_a_stack_in_a_group_of_others_is_rehearsed(checkout: Checkout) -> None:
    """Where identities are for a group, it is made before: no such stack could be rehearsed."""
    theirs = {"resourceGroup": {"name": "theirs", "existing": True}}
    checkout.says(**theirs, cluster={"protect": False}, gpuPools=[SIZE])
    assert "GPUs:   they work" in checkout.rehearse()
    assert "No changes" in checkout.rehearse()
