"""The GPU Operator's chart, rendered with this project's values.

Here it is the rehearsal's own chart. With `GPU_OPERATOR_CHART`, a path or an address, it is that
one: a workflow renders NVIDIA's.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aks_catalogue import gpu_operator
from aks_catalogue.scheduling import Taint, untolerated
from machine_setup import ensure_helm
from rehearsal.offline_plug_ins import kubernetes

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

Json = dict[str, Any]
OWN = Path(kubernetes.__file__).with_name("charts") / gpu_operator.CHART
TAINTS = ["sku=gpu:NoSchedule", "team:NoExecute", "nvidia.com/gpu=present:NoSchedule"]


def rendered(folder: Path, values: Json) -> Iterator[Json]:
    file = folder / "values.json"
    file.write_text(json.dumps(values))
    chart = os.environ.get("GPU_OPERATOR_CHART", str(OWN))
    command = [str(ensure_helm()), "template", "gpu-operator", chart, "-n", "gpu-operator"]
    done = subprocess.run(
        [*command, "--values", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return (manifest for manifest in yaml.safe_load_all(done.stdout) if manifest)


def tolerates_all(pods: Json) -> bool:
    return not untolerated(pods, map(Taint.parse, TAINTS))


@pytest.mark.parametrize("has_mig", [False, True])
@pytest.mark.parametrize("driver", gpu_operator.PROFILES)
def test_switches_and_tolerations_arrive_at_every_operand(
    driver: str, has_mig: bool, tmp_path: Path
) -> None:
    values = gpu_operator.values(driver, TAINTS, {}, has_mig=has_mig)
    objects = list(rendered(tmp_path, values))
    kinds = [manifest["kind"] for manifest in objects]
    assert "GPUCluster" not in kinds
    (policy,) = (manifest["spec"] for manifest in objects if manifest["kind"] == "ClusterPolicy")
    is_operators = driver == "operator"
    assert policy["driver"]["enabled"] is is_operators
    assert policy["toolkit"]["enabled"] is is_operators
    assert policy["devicePlugin"]["enabled"] is True
    assert policy["migManager"]["enabled"] is (not has_mig)
    # The operator gives these to every operand.
    assert tolerates_all(policy["daemonsets"])
    if is_operators:
        variable = {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}
        assert variable in policy["toolkit"]["env"]
    else:
        assert policy["operator"]["runtimeClass"] == gpu_operator.AKS_RUNTIME
    # What the chart itself runs on nodes with GPUs.
    for manifest in objects:
        if manifest["kind"] == "DaemonSet":
            assert tolerates_all(manifest["spec"]["template"]["spec"]), manifest["metadata"]["name"]


def test_without_our_values_the_chart_does_not_tolerate_the_taint_of_aks(tmp_path: Path) -> None:
    """Why the tolerations are derived from the pools."""
    objects = list(rendered(tmp_path, {}))
    (policy,) = (manifest["spec"] for manifest in objects if manifest["kind"] == "ClusterPolicy")
    assert not tolerates_all(policy["daemonsets"])
