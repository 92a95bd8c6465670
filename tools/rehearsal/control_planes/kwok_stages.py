"""kwok's Stage objects for nodes and pods, from stages.yaml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from aks_catalogue import images
from aks_catalogue.device_plugin import IMAGE as PLUGIN
from rehearsal.control_planes.containers import SANDBOX_READY

# The name of an image without registry and version.
SAMPLE = images.SAMPLE_JOB.rpartition("/")[2].partition(":")[0]
# Other samples of NVIDIA's are in the same repository.
VECTOR_ADD = images.VECTOR_ADD.rpartition("/")[2].partition("-cuda")[0]
_NAMES = {
    "SAMPLE": SAMPLE,
    "VECTOR_ADD": VECTOR_ADD,
    "PLUGIN": PLUGIN,
    "SANDBOX": SANDBOX_READY,
}


def configuration(time_scale: float) -> str:
    """Returns kwok's configuration for one cluster."""
    text = Path(__file__).with_name("stages.yaml").read_text(encoding="utf-8")
    for placeholder, name in _NAMES.items():
        text = text.replace(placeholder, name)
    stages = [_stage(row, time_scale) for row in yaml.safe_load(text)["stages"]]
    return yaml.safe_dump_all(stages, sort_keys=False)


def _stage(row: Mapping[str, Any], time_scale: float) -> dict[str, Any]:
    """Returns the Stage of a row; one without a template deletes its object."""
    template = "".join(row.get("template", ()))
    following = {"statusTemplate": template} if template else {"delete": True}
    spec = {
        "resourceRef": {"apiGroup": "v1", "kind": row.get("kind", "Pod")},
        "selector": {"matchExpressions": row["when"]},
        "next": following | {name: row[name] for name in ("event",) if name in row},
    }
    if "milliseconds" in row:
        spec["delay"] = {"durationMilliseconds": round(row["milliseconds"] * time_scale)}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": row["name"]},
        "spec": spec,
    }
