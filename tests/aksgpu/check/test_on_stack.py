"""A stack's outputs, on the real engine: where the kubeconfig and the pools come from."""

from pathlib import Path
from typing import Any

import pytest

from aks_catalogue.sample_pod import sample_pod
from machine_setup import Engine
from tests.aksgpu.check.conftest import TAINT, Site
from tests.bench import Bench
from tests.checked import checked_stack

pytestmark = [pytest.mark.engine, pytest.mark.long]

POD = sample_pod(None, {}, [{"operator": "Exists"}])
PROGRAM = """
import pulumi
pulumi.export("clusterName", "team-cluster")
pulumi.export("kubeconfig", pulumi.Output.secret(open({kubeconfig!r}).read()))
pulumi.export("gpuPools", {{{pool!r}: {{"id": "/x", "pod": {pod!r}}}}})
"""


@pytest.fixture
def own(engine: Engine, site: Site, tmp_path: Path) -> Bench:
    return Bench(engine, site.cluster.azure.cloud, tmp_path).begin()


def test_a_pool_without_nodes_is_fine_and_grows_for_the_job(site: Site, own: Bench) -> None:
    site.cluster.install_plugin()
    site.patch_plugin({"tolerations": [{"operator": "Exists"}]})
    scaling: Any = {"count": 0, "enableAutoScaling": True, "minCount": 0, "maxCount": 1}
    pool = site.pool(nodeTaints=[TAINT], **scaling)
    own.up(PROGRAM.format(kubeconfig=str(site.kubeconfig), pool=pool, pod=POD))

    checked = checked_stack(own)
    assert checked.code == 0
    # Whatever the state is kept in, its nodes say that they are played.
    title = "The stack test, cluster team-cluster, which is rehearsed"
    assert (checked.document["title"], checked.document["cause"]) == (title, "no-nodes-now")
    assert checked.document["emptyPools"] == [pool]
    [note] = checked.document["findings"]
    assert (note["cause"], note["pool"]) == ("pool-at-zero", pool)

    checked = checked_stack(own, job=True)
    assert checked.code == 0
    assert checked.document["job"]["succeeded"]
    assert checked.document["grownPool"] == pool
    assert f"aks-{pool}-" in checked.document["job"]["node"]


def test_the_stacks_kubeconfig_is_neither_printed_nor_kept(site: Site, own: Bench) -> None:
    own.up(PROGRAM.format(kubeconfig=str(site.kubeconfig), pool="gpu", pod=POD))
    secrets = [
        line.split()[-1] for line in site.kubeconfig.read_text().splitlines() if "-data:" in line
    ]
    assert len(secrets) == 3
    for json_wanted in (True, False):
        checked = checked_stack(own, json=json_wanted)
        assert not any(secret in checked.printed + checked.progress for secret in secrets)


def test_a_stack_without_a_kubeconfig_is_reported(own: Bench) -> None:
    own.up("import pulumi\npulumi.export('a', 'b')")
    problem = checked_stack(own).only("cluster-unreachable")
    assert "has no output kubeconfig" in problem["what"]


def test_an_unknown_stack_is_reported(own: Bench) -> None:
    own.pulumi("stack", "rm", "--yes")
    problem = checked_stack(own).only("cluster-unreachable")
    assert "no stack named 'test' found" in problem["what"]
