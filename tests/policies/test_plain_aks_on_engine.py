"""The policy pack by itself, outside of this checkout, on a program that is not ours."""

import json
from pathlib import Path

import pytest

from aksgpu.policy_pack import assemble
from tests.bench import Bench
from tests.examples.typed import Typed
from tests.readme_commands import commands

pytestmark = [pytest.mark.engine, pytest.mark.long]

# Level, rule, and the resource that it finds fault with.
EXPECTED = [
    ("advisory", "device-plugin-bound-to-pools", "device-plugin"),
    ("advisory", "gpu-pool-autoscaling", "cluster"),
    ("advisory", "gpu-pool-autoscaling", "rendering"),
    ("advisory", "gpu-pool-autoscaling", "training"),
    ("advisory", "gpu-pool-separate", "cluster"),
    ("advisory", "gpu-pool-tainted", "cluster"),
    ("advisory", "gpu-pool-tainted", "rendering"),
    ("advisory", "gpu-pool-tainted", "training"),
    ("advisory", "gpu-size-retired", "training"),
    ("mandatory", "device-plugin-tolerates-pools", "inference"),
    ("mandatory", "gpu-pool-linux-only", "rendering"),
    ("mandatory", "gpu-pool-minimum-size", "rendering"),
]


def findings(events: Path) -> list[tuple[str, str, str]]:
    policy_events = [
        json.loads(line).get("policyEvent") for line in events.read_text().splitlines()
    ]
    return sorted(
        (event["enforcementLevel"], event["policyName"], event["resourceUrn"].rpartition("::")[2])
        for event in policy_events
        if event
    )


def test_the_commands_run_only_the_pack(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = Typed(bench, "plain-aks", tmp_path / "clone").prepare()
    [*lines, preview] = commands(typed.readme, "the root of this repository:")
    assert lines[0] == "make policy-pack"
    pack, events = typed.root / "build" / "policy-pack", tmp_path / "events"
    assemble(pack)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    # `--event-log` is for those who ask for it.
    monkeypatch.setenv("PULUMI_DEBUG_COMMANDS", "true")

    output = typed.run(*lines, f"{preview} --event-log {events}")

    assert events.exists(), output
    assert findings(events) == EXPECTED, output
    assert not list(pack.glob("venv/lib/*/site-packages/*aks_gpu*"))

    [review, remove, _] = commands(typed.readme, "GPUs before and after:")
    in_the_example = [line for line in lines if line.startswith("export ")]
    output = typed.run(*in_the_example, review)
    assert "Result: rule-broken" in output
    assert all(rule in output for level, rule, _ in EXPECTED if level == "mandatory")
    assert typed.run(*in_the_example, remove).endswith("exit code 0\n")
    assert not bench.requests("PUT")
