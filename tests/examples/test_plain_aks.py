"""The policy pack by itself, outside of this checkout, on a program that is not ours."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from aksgpu.policy_pack import assemble
from tests.bench import ROOT, Bench

pytestmark = [pytest.mark.engine, pytest.mark.long]

EXAMPLE = ROOT / "examples" / "plain-aks"

# Level, rule, and the resource that it finds fault with.
EXPECTED = [
    ("advisory", "container-image-pinned", "device-plugin"),
    ("advisory", "device-plugin-bound-to-pools", "device-plugin"),
    ("advisory", "gpu-pool-autoscaling", "cluster"),
    ("advisory", "gpu-pool-autoscaling", "rendering"),
    ("advisory", "gpu-pool-autoscaling", "training"),
    ("advisory", "gpu-pool-scale-to-zero", "inference"),
    ("advisory", "gpu-pool-separate", "cluster"),
    ("advisory", "gpu-pool-tainted", "cluster"),
    ("advisory", "gpu-pool-tainted", "rendering"),
    ("advisory", "gpu-pool-tainted", "training"),
    ("advisory", "gpu-size-retired", "training"),
    ("advisory", "host-encryption", "cluster"),
    ("advisory", "host-encryption", "rendering"),
    ("advisory", "host-encryption", "training"),
    ("mandatory", "device-plugin-tolerates-pools", "inference"),
    ("mandatory", "gpu-pool-linux-only", "rendering"),
    ("mandatory", "gpu-pool-minimum-size", "rendering"),
]


def install(bench: Bench, pack: Path) -> None:
    """Gives the pack an environment of its own, as its user does."""
    assemble(pack)
    subprocess.run([bench.engine.pulumi, "install"], cwd=pack, env=bench.environment, check=True)


def take_over_example(bench: Bench) -> None:
    """Puts the example in the place of the bench's own program."""
    file = bench.folder / "project" / "Pulumi.yaml"
    own = yaml.safe_load(file.read_text())
    config = yaml.safe_load((EXAMPLE / "Pulumi.yaml").read_text())["config"]
    # The stack was made under the bench's name.
    own |= {"config": {f"{own['name']}:{key}": said for key, said in config.items()}}
    file.write_text(yaml.safe_dump(own))
    (file.parent / "__main__.py").write_text((EXAMPLE / "__main__.py").read_text())


def findings(events: Path) -> list[tuple[str, str, str]]:
    told = [json.loads(line).get("policyEvent") for line in events.read_text().splitlines()]
    return sorted(
        (event["enforcementLevel"], event["policyName"], event["resourceUrn"].rpartition("::")[2])
        for event in told
        if event
    )


def test_the_pack_alone_finds_what_is_wrong(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, events = tmp_path / "pack", tmp_path / "events"
    monkeypatch.delenv("PYTHONPATH", raising=False)
    install(bench, pack)
    assert not list(pack.glob("venv/lib/*/site-packages/*aks_gpu*"))
    take_over_example(bench)

    # `--event-log` is for those who ask for it.
    monkeypatch.setenv("PULUMI_DEBUG_COMMANDS", "true")
    arguments = ["--policy-pack", str(pack), "--event-log", str(events)]
    said = bench.pulumi("preview", *arguments, fails=True)

    assert findings(events) == EXPECTED, said
    assert not bench.requests("PUT")
