"""kwok's Stage objects for nodes and pods, from stages.yaml."""

from pathlib import Path
from typing import Any

import yaml

from catalogue import images
from catalogue.device_plugin import IMAGE as PLUGIN
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
    stages = [_stage(time_scale, **row) for row in yaml.safe_load(text)["stages"]]
    return yaml.safe_dump_all(stages, sort_keys=False)


def _stage(
    time_scale: float,
    *,
    name: str,
    when: list[dict[str, Any]],
    kind: str = "Pod",
    milliseconds: int = 0,
    template: str | list[str] = "",
    event: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Returns a Stage; one without a template deletes its object."""
    following = {"statusTemplate": "".join(template)} if template else {"delete": True}
    delay = {"durationMilliseconds": round(milliseconds * time_scale)}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": when},
            "next": following | ({"event": event} if event else {}),
            **({"delay": delay} if milliseconds else {}),
        },
    }
