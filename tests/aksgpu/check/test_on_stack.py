"""A stack's outputs, on the real engine: where the kubeconfig and the pools come from."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from aksgpu.check.command import check_cluster
from aksgpu.check.examination import CheckOptions
from aksgpu.check.target import of_stack
from aksgpu.running import Program
from engine import Engine
from tests.aksgpu.check.conftest import SETTLE, TAINT, Checked, Site
from tests.bench import Bench

pytestmark = [pytest.mark.engine, pytest.mark.long]

PROGRAM = """
import pulumi
tolerations = [{{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}}]
pulumi.export("clusterName", "myAKSCluster")
pulumi.export("kubeconfig", pulumi.Output.secret(open({kubeconfig!r}).read()))
pulumi.export("gpuPools", {{{pool!r}: {{"id": "/x", "tolerations": tolerations}}}})
"""


@pytest.fixture
def own(engine: Engine, site: Site, tmp_path: Path) -> Bench:
    return Bench(engine, site.cluster.azure.cloud, tmp_path).begin()


def check(bench: Bench, **options: Any) -> Checked:
    pulumi = Program((bench.engine.pulumi,), bench.folder / "project", bench.environment)
    output, progress = io.StringIO(), list[str]()
    code = check_cluster(
        lambda: of_stack(pulumi, "test"),
        CheckOptions(**{"json": True, "settle": SETTLE, **options}),
        Console(file=output, width=200),
        progress.append,
    )
    return Checked(code, output.getvalue(), "\n".join(progress))


def test_a_pool_without_nodes_is_fine_and_grows_for_the_job(site: Site, own: Bench) -> None:
    site.cluster.install_plugin()
    site.patch_plugin({"tolerations": [{"operator": "Exists"}]})
    scaling: Any = {"count": 0, "enableAutoScaling": True, "minCount": 0, "maxCount": 1}
    pool = site.pool(nodeTaints=[TAINT], **scaling)
    own.up(PROGRAM.format(kubeconfig=str(site.kubeconfig), pool=pool))

    checked = check(own)
    assert checked.code == 0
    # Whatever the state is kept in, its nodes say that they are played.
    title = "The stack test, cluster myAKSCluster, which is rehearsed"
    assert (checked.document["title"], checked.document["cause"]) == (title, "no-nodes-now")
    assert checked.document["emptyPools"] == [pool]
    [note] = checked.document["findings"]
    assert (note["cause"], note["pool"]) == ("pool-at-zero", pool)

    checked = check(own, job=True)
    assert checked.code == 0
    assert checked.document["job"]["devices"] == ["Tesla K80"]
    assert checked.document["grownPools"] == [pool]
    assert f"aks-{pool}-" in checked.document["job"]["node"]


def test_the_stacks_kubeconfig_is_neither_printed_nor_kept(site: Site, own: Bench) -> None:
    own.up(PROGRAM.format(kubeconfig=str(site.kubeconfig), pool="gpu"))
    secrets = [
        line.split()[-1] for line in site.kubeconfig.read_text().splitlines() if "-data:" in line
    ]
    assert len(secrets) == 3
    for json_wanted in (True, False):
        checked = check(own, json=json_wanted)
        assert not any(secret in checked.printed + checked.progress for secret in secrets)


def test_a_stack_without_a_kubeconfig_is_reported(own: Bench) -> None:
    own.up("import pulumi\npulumi.export('a', 'b')")
    problem = check(own).only("stack-unreadable")
    assert "has no output kubeconfig" in problem["what"]


def test_an_unknown_stack_is_reported(own: Bench) -> None:
    own.pulumi("stack", "rm", "--yes")
    problem = check(own).only("stack-unreadable")
    assert "no stack named 'test' found" in problem["what"]
