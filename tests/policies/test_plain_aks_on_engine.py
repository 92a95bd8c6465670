"""The policy pack by itself, outside of this checkout, on a program that is not ours."""

import json
from pathlib import Path

import pytest

from aksgpu.policy_pack import assemble
from tests.bench import Bench
from tests.examples.typed import Typed

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

# Level, rule, and the resource that it finds fault with.
EXPECTED = [
    ("advisory", "gpu-pool-autoscaling", "cluster"),
    ("advisory", "gpu-pool-autoscaling", "rendering"),
    ("advisory", "gpu-pool-autoscaling", "training"),
    ("advisory", "gpu-pool-separate", "cluster"),
    ("advisory", "gpu-pool-tainted", "cluster"),
    ("advisory", "gpu-pool-tainted", "rendering"),
    ("advisory", "gpu-pool-tainted", "training"),
    ("advisory", "gpu-size-retired", "training"),
    ("advisory", "gpu-stack-unclear", "device-plugin"),
    ("mandatory", "device-plugin-tolerates-pools", "inference"),
    ("mandatory", "gpu-pool-linux-only", "rendering"),
    ("mandatory", "gpu-pool-minimum-size", "rendering"),
]

IN_THE_PROGRAM = (
    "export PULUMI_OPTION_CWD=$PWD/tests/policies/plain_aks PULUMI_STACK=try",
    "export PULUMI_OPTION_POLICY_PACK=$PWD/build/policy-pack PULUMI_OPTION_POLICY_PACK_CONFIG=",
)


def findings(events: Path) -> list[tuple[str, str, str]]:
    policy_events = [
        json.loads(line).get("policyEvent") for line in events.read_text().splitlines()
    ]
    return sorted(
        (event["enforcementLevel"], event["policyName"], event["resourceUrn"].rpartition("::")[2])
        for event in policy_events
        if event
    )


def test_the_pack_judges_another_program_and_changes_nothing(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = Typed(bench, "tests/policies/plain_aks", tmp_path / "clone").prepare()
    pack, events = typed.root / "build" / "policy-pack", tmp_path / "events"
    assemble(pack)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    # `--event-log` is for those who ask for it.
    monkeypatch.setenv("PULUMI_DEBUG_COMMANDS", "true")

    output = typed.run(
        "pulumi --cwd build/policy-pack install",
        *IN_THE_PROGRAM,
        "pulumi stack init try",
        f"pulumi preview --event-log {events}",
    )

    assert events.exists(), output
    assert findings(events) == EXPECTED, output
    assert not list(pack.glob("venv/lib/*/site-packages/*aks_gpu*"))

    review = f".venv/bin/aksgpu review --offline --stack try --project {typed.folder}"
    output = typed.run(*IN_THE_PROGRAM, review)
    assert "Result: rule-broken" in output
    assert all(rule in output for level, rule, _ in EXPECTED if level == "mandatory")
    assert not bench.requests("PUT")
