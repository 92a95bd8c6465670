"""States of the example stacks as an earlier commit left them: today's program changes nothing.

But for what is meant, below. Moves in the source must not rename what is in states. Where a
change of them is meant, `python -m tests.test_recorded_states` records them anew.
"""

import base64
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine import Engine, ensure_engine, ensure_kubernetes
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import ROOT, Bench
from tests.faults import Faults

FOLDER = ROOT / "tests" / "recorded_states"
STACKS = ("dev", "prod", "article")
NOBODY = "00000000-0000-0000-0000-000000000000"
# What today's program has changed on purpose: the Kubernetes provider has learned which cluster it
# is for, and nothing on the cluster is replaced by that.
MEANT = {"kubernetes": "update"}
# The version that prod sets is its pools' too, and in the states no input has it. A program cannot
# see that Azure filled it in, and to ignore the property would be to ignore every later upgrade. So
# the first update sends pools the version that they have, and Azure changes nothing.
MEANT_OF: Mapping[str, Mapping[str, str]] = {
    "prod": dict.fromkeys(("t4", "mig", "spot"), "update"),
}
_OF_THE_MACHINE = ("sourcePosition", "stackTrace")
# In place of each cluster's own. Nobody answers there, so a preview compares inputs only.
KUBECONFIG = yaml.safe_dump(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "none"}}],
    }
)


def stack_file(name: str) -> dict[str, Any]:
    config: Mapping[str, Any] = yaml.safe_load((ROOT / f"Pulumi.{name}.yaml").read_text())["config"]
    return {key.removeprefix("aks-gpu:"): value for key, value in config.items()}


def began(engine: Engine, running: Cloud, folder: Path, name: str) -> Bench:
    """A project with one of the example stacks, which has no resources yet."""
    # What encrypted the recorded states; since then each home has a word of its own.
    (folder / "passphrase").write_text("rehearsal")
    bench = Bench(engine, running, folder).begin()
    bench.write_stack(stack_file(name))
    return bench


@pytest.mark.engine
@pytest.mark.long
@pytest.mark.parametrize("name", STACKS)
def test_a_recorded_state_previews_without_changes(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path, name: str
) -> None:
    bench = began(engine, engine_cloud, tmp_path, name)
    recorded = tmp_path / "recorded.json"
    state = (FOLDER / f"{name}.json").read_text()
    recorded.write_text(state.replace(NOBODY, engine_cloud.subscription))
    bench.pulumi("stack", "import", "--file", str(recorded))
    value = base64.b64encode(KUBECONFIG.encode()).decode()
    answer = {"kubeconfigs": [{"name": "clusterUser", "value": value}]}
    faults = Faults(engine_cloud.home)
    own = stack_file(name)
    path = (
        f"/subscriptions/{engine_cloud.subscription}/resourceGroups/{own['resourceGroup']['name']}"
        f"/providers/Microsoft.ContainerService/managedClusters/{own['cluster']['name']}"
    )
    cluster = {"id": path, "location": "eastus", "properties": {"resourceUID": "0" * 24}}
    pools = [f"{path}/agentPools/{pool['name']}" for pool in own["gpuPools"]]
    faults.script(
        *(
            {"method": "GET", "path": f"{pool}$", "status": 200, "body": {"id": pool}}
            for pool in pools
        ),
        {"method": "POST", "path": "listClusterUserCredential", "status": 200, "body": answer},
        {"method": "GET", "path": "managedClusters/[^/]*$", "status": 200, "body": cluster},
    )
    try:
        assert bench.changes() == {**MEANT, **MEANT_OF.get(name, {})}
    finally:
        faults.lift()


def record(name: str, folder: Path) -> str:
    """The state of a stack that was brought up, without what is its cloud's own."""
    home = folder / "cloud"
    running = cloud.start(home, 0.1, "article", ensure_kubernetes().folder)
    try:
        bench = began(ensure_engine(), running, folder, name)
        bench.pulumi("up", "--yes", "--skip-preview")
        kubeconfig = bench.pulumi("stack", "output", "kubeconfig", "--show-secrets").strip()
        state = json.loads(bench.pulumi("stack", "export", "--show-secrets"))
    finally:
        cloud.stop(home)
    text = json.dumps(_neutral(state, kubeconfig), indent=2, sort_keys=True)
    return text.replace(running.subscription, NOBODY) + "\n"


def _neutral(value: Any, kubeconfig: str) -> Any:
    """The same state with a kubeconfig of nobody's, and without what tells of this machine."""
    if isinstance(value, dict):
        kept = {key: member for key, member in value.items() if key not in _OF_THE_MACHINE}
        return {key: _neutral(member, kubeconfig) for key, member in kept.items()}
    if isinstance(value, list):
        return [_neutral(item, kubeconfig) for item in value]
    if isinstance(value, str):
        for form in (str, lambda text: json.dumps(text)[1:-1], _coded):
            for own in (f"{kubeconfig}\n", kubeconfig):
                value = value.replace(form(own), form(KUBECONFIG))
    return value


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name in STACKS:
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / f"{name}.json").write_text(record(name, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
