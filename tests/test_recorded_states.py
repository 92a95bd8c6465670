"""States of stacks as released versions left them: today's program changes nothing in them.

But for what is meant, below. Each version has a folder, with the stack files as they were. A
release records its own: `python -m tests.test_recorded_states`.
"""

import base64
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from aks_preview.configuration import VERSION
from engine import Engine, ensure_engine, ensure_kubernetes
from rehearsal import cloud
from rehearsal.cloud import Cloud
from tests.bench import ROOT, Bench
from tests.faults import Faults

FOLDER = ROOT / "tests" / "recorded_states"
RECORDED = sorted(FOLDER.glob("*/*.json"))
NOBODY = "00000000-0000-0000-0000-000000000000"
# What today's program changes on purpose, by the version that left the state. UPGRADE.md names each
# resource that is replaced or deleted.
#
# Before 0.1.0, the Kubernetes provider did not know which cluster it is for; nothing on the cluster
# is replaced by that. And the version that prod sets is its pools' too, which no input had. A
# program cannot see that Azure filled it in, and to ignore the property would be to ignore every
# later upgrade. So the first update sends pools the version that they have.
MEANT: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("before-0.1.0", "article"): {"kubernetes": "update"},
    ("before-0.1.0", "dev"): {"kubernetes": "update"},
    ("before-0.1.0", "prod"): dict.fromkeys(("kubernetes", "t4", "mig", "spot"), "update"),
    # The provider patches by force since.
    **{("0.1.0", name): {"kubernetes": "update"} for name in ("article", "dev", "prod")},
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


def stack_file(file: Path) -> dict[str, Any]:
    config: Mapping[str, Any] = yaml.safe_load(file.read_text())["config"]
    return {key.removeprefix("aks-gpu:"): value for key, value in config.items()}


def began(engine: Engine, running: Cloud, folder: Path, file: Path) -> Bench:
    """A project with a stack of a stack file, which has no resources yet."""
    # What encrypted the recorded states; since then each home has a word of its own.
    (folder / "passphrase").write_text("rehearsal")
    bench = Bench(engine, running, folder).begin()
    bench.write_stack(stack_file(file))
    return bench


@pytest.mark.engine
@pytest.mark.long
@pytest.mark.parametrize("state", RECORDED, ids=lambda state: f"{state.parent.name}-{state.stem}")
def test_a_recorded_state_previews_without_changes(
    engine: Engine, engine_cloud: Cloud, tmp_path: Path, state: Path
) -> None:
    bench = began(engine, engine_cloud, tmp_path, state.with_suffix(".yaml"))
    recorded = tmp_path / "recorded.json"
    recorded.write_text(state.read_text().replace(NOBODY, engine_cloud.subscription))
    bench.pulumi("stack", "import", "--file", str(recorded))
    value = base64.b64encode(KUBECONFIG.encode()).decode()
    answer = {"kubeconfigs": [{"name": "clusterUser", "value": value}]}
    faults = Faults(engine_cloud.home)
    own = stack_file(state.with_suffix(".yaml"))
    path = (
        f"/subscriptions/{engine_cloud.subscription}/resourceGroups/{own['resourceGroup']['name']}"
        f"/providers/Microsoft.ContainerService/managedClusters/{own['cluster']['name']}"
    )
    known = re.search(r'"clusterIdentifier": "(\w+)"', state.read_text())
    own_id = {"resourceUID": known[1] if known else "0" * 24}
    cluster = {"id": path, "location": "eastus", "properties": own_id}
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
        assert bench.changes() == MEANT.get((state.parent.name, state.stem), {})
    finally:
        faults.lift()


def test_the_last_version_has_its_states() -> None:
    """CONTRIBUTING.md, "Release": an upgrade from it would go untested."""
    assert VERSION in {state.parent.name for state in RECORDED}
    assert all(state.with_suffix(".yaml").exists() for state in RECORDED)


def test_a_replacement_that_is_meant_is_in_the_page_on_upgrades() -> None:
    page = (ROOT / "UPGRADE.md").read_text()
    for meant in MEANT.values():
        for name, change in meant.items():
            assert change in ("create", "update") or f"`{name}`" in page


def record(file: Path, folder: Path) -> str:
    """The state of a stack that was brought up, without what is its cloud's own."""
    home = folder / "cloud"
    era: Literal["article", "today"] = "article" if ".article." in file.name else "today"
    running = cloud.start(home, 0.1, era, ensure_kubernetes().folder)
    try:
        bench = began(ensure_engine(), running, folder, file)
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
    place = FOLDER / VERSION
    place.mkdir(exist_ok=True)
    for file in (*ROOT.glob("Pulumi.*.yaml"), *ROOT.glob("examples/stacks/Pulumi.*.yaml")):
        state = place / f"{file.suffixes[0][1:]}.json"
        with tempfile.TemporaryDirectory() as folder:
            state.write_text(record(file, Path(folder)))
        shutil.copy(file, state.with_suffix(".yaml"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
