"""Each stack file of examples/stacks, rehearsed to a job that ran, and to pods that share its GPUs.

What proves that pods share a GPU is that they run at the same time: that each of them ends well
proves nothing, because one GPU would serve them one after another.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from machine_setup import Engine
from tests.bench import ROOT
from tests.checkout import Checkout
from tests.cluster_bench import GPU, ClusterBench

FOLDER = ROOT / "examples" / "stacks"


@dataclass(frozen=True, kw_only=True)
class Example:
    """A stack file, and what a node of each of its pools offers."""

    stack: str
    offers: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    # The most nodes that each of these pools can have.
    nodes: int = 1


EXAMPLES = [
    Example(
        stack="capacity", offers=dict.fromkeys(("spot", "regular", "larger"), (GPU, 1)), nodes=2
    ),
    Example(stack="company", offers={"gpu": (GPU, 1)}),
    Example(stack="device-plugin", offers={"gpu": (GPU, 1)}),
    Example(stack="gb300", offers={"gb300": (GPU, 4)}, nodes=18),
    Example(stack="isolated", offers={"gpu": (GPU, 1)}),
    Example(stack="managed", offers={"gpu": (GPU, 1)}),
    Example(stack="mig", offers={"small": (GPU, 7), "large": ("nvidia.com/mig-3g.40gb", 2)}),
    Example(stack="operator", offers={"gpu": (GPU, 1)}),
    Example(stack="rotate", offers={"gpu": (GPU, 1)}),
    Example(stack="shared", offers={"shared": (GPU, 4), "renamed": (f"{GPU}.shared", 8)}),
]
# One for each way in which a GPU comes to pods.
IN_THE_GATE = {"device-plugin", "mig", "operator"}


def test_every_stack_file_is_rehearsed() -> None:
    files = sorted(file.name for file in FOLDER.glob("Pulumi.*.yaml"))
    assert files == sorted(f"Pulumi.{example.stack}.yaml" for example in EXAMPLES)
    listed = (FOLDER / "README.md").read_text()
    assert all(f"]({file})" in listed for file in files)


@pytest.mark.engine
@pytest.mark.long
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(
            one, id=one.stack, marks=[] if one.stack in IN_THE_GATE else pytest.mark.nightly
        )
        for one in EXAMPLES
    ],
)
def test_an_example_is_rehearsed_and_runs_as_many_gpu_pods_as_it_promises(
    engine: Engine, checkout: Checkout, example: Example
) -> None:
    """The shipped example of the GPU Operator crashed the command when all had been created."""
    checkout.takes((FOLDER / f"Pulumi.{example.stack}.yaml").read_text())
    checkout.rehearse()

    bench = ClusterBench(engine, checkout.cloud, checkout.cloud.home)
    assert bench.changes("--refresh") == {}
    checked = bench.check(job=True)
    # A rung has no nodes until it is needed.
    found = {finding["cause"] for finding in checked["findings"]} - {"pool-at-zero"}
    assert (found, checked["cause"]) == (set(), "gpus-schedulable"), checked
    assert checked["job"]["succeeded"]

    outputs = json.loads(bench.pulumi("stack", "output", "gpuPools", "--json"))
    requests = {name: (pool["resourceName"], pool["gpusPerNode"]) for name, pool in outputs.items()}
    assert requests == example.offers
    for name, (resource, number) in example.offers.items():
        run_pods(bench, name, outputs[name]["pod"], resource, number * example.nodes)
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


def run_pods(
    bench: ClusterBench, pool: str, snippet: dict[str, Any], resource: str, number: int
) -> None:
    """Starts one pod more than the pool has room for: the snippet's, but they do not end."""
    (container,) = snippet["spec"]["containers"]
    for index in range(number + 1):
        pod = {
            **snippet,
            "metadata": {"name": f"{pool}-{index}", "labels": {"app": pool}},
            "spec": {**snippet["spec"], "containers": [{**container, "image": "runs-for-ever"}]},
        }
        bench.kubectl("apply", "-f", "-", content=pod)

    bench.runs_at_once(pool, number, resource)
    bench.kubectl("delete", "pods", "-l", f"app={pool}")
