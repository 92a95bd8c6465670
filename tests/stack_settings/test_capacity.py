"""The key gpuCapacity: what rungs take over, and what is refused."""

import json
from typing import Any

import pytest

from stack_settings.model import Settings
from stack_settings.reading import SettingsError, load

A100, H100 = "Standard_NC24ads_A100_v4", "Standard_NC40ads_H100_v5"
SPOT, REGULAR = {"name": "spot", "spot": True}, {"name": "regular"}
LADDER = {"name": "training", "vmSize": A100, "maxCount": 4, "rungs": [SPOT, REGULAR]}


def stack(*ladders: Any, **more: Any) -> Settings:
    keys = {"gpuCapacity": [*ladders], **more}
    config = {
        f"aks-gpu:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in keys.items()
    }
    return load(config, "test", lambda _: None)


def refusal(*ladders: Any, **more: Any) -> str:
    with pytest.raises(SettingsError) as refused:
        stack(*ladders, **more)
    return str(refused.value)


def test_rungs_take_over_size_and_bounds_and_start_without_nodes() -> None:
    """Each rung would have started a node that costs: a pool without a count has one."""
    own = {"name": "h100", "vmSize": H100, "maxCount": 2, "minCount": 1}
    (ladder,) = stack({**LADDER, "rungs": [SPOT, REGULAR, own]}).gpu_capacity
    assert [
        (rung.vm_size, rung.count, rung.min_count, rung.max_count) for rung in ladder.rungs
    ] == [(A100, 0, 0, 4), (A100, 0, 0, 4), (H100, 1, 1, 2)]


def test_rungs_are_pools_of_the_stack() -> None:
    settings = stack(LADDER)
    assert dict(settings.separate_pools).keys() == {
        "gpuCapacity[0].rungs[0]",
        "gpuCapacity[0].rungs[1]",
    }
    assert [pool.name for pool in settings.pools_of("device-plugin")] == ["spot", "regular"]
    assert settings.uses_kubernetes
    operator = stack(LADDER, gpuStack="operator")
    assert [pool.name for pool in operator.pools_of("operator")] == ["spot", "regular"]
    # Also without software for GPUs, the autoscaler's order is on the cluster.
    assert stack(LADDER, gpuStack="none").uses_kubernetes
    assert not stack(gpuStack="none").uses_kubernetes


@pytest.mark.parametrize("autoscaler", [None, {"idleMinutes": 5}, {"expander": "priority"}])
def test_the_autoscaler_gets_the_expander(autoscaler: Any) -> None:
    cluster = {"autoscaler": autoscaler} if autoscaler else {}
    found = stack(LADDER, cluster=cluster).autoscaler
    assert found is not None
    assert found.expander == "priority"
    assert found.idle_minutes == (autoscaler or {}).get("idleMinutes", 10)
    without = stack(cluster=cluster).autoscaler
    assert (without is None) == (autoscaler is None)


@pytest.mark.parametrize(
    ("ladder", "words"),
    [
        ({**LADDER, "maxCount": None}, "gpuCapacity[0].rungs[0].maxCount: is required"),
        # It was called missing, though it was there.
        ({**LADDER, "maxCount": 0}, "gpuCapacity[0].rungs[0].maxCount: must be at least 1, not 0"),
        ({**LADDER, "name": "A"}, "gpuCapacity[0].name: 'A' is not a valid name"),
        ({**LADDER, "rungs": []}, "gpuCapacity[0].rungs: needs at least one rung"),
        ({**LADDER, "rungs": "spot"}, "gpuCapacity[0].rungs: must be a list, not 'spot'"),
        ({**LADDER, "rungs": ["spot"]}, "gpuCapacity[0].rungs[0]: must be a map of keys"),
        ({**LADDER, "rung": []}, "gpuCapacity[0].rung: is not a key of a stack file: did you"),
        ({**LADDER, "prefix": "x"}, "gpuCapacity[0].prefix: is not a key of a stack file"),
        (
            {**LADDER, "rungs": [SPOT, {**REGULAR, "vmSize": "Standard_NC4as_T4_v3"}]},
            "gpuCapacity[0].rungs[1].vmSize: Standard_NC4as_T4_v3 has fewer GPUs",
        ),
        # It was replaced without a word.
        (
            {**LADDER, "rungs": [SPOT, {**REGULAR, "labels": {"aks-gpu/capacity": "other"}}]},
            "gpuCapacity[0].rungs[1].labels.aks-gpu/capacity: is set by the capacity; remove it",
        ),
    ],
)
def test_a_wrong_ladder_is_refused_with_its_key(ladder: dict[str, Any], words: str) -> None:
    ladder = {key: value for key, value in ladder.items() if value is not None}
    assert words in refusal(ladder)


def test_all_mistakes_are_told_at_once() -> None:
    pools = [{"name": "spot", "vmSize": A100}]
    two = refusal(LADDER, {**LADDER, "rungs": [{"name": "more"}]}, gpuPools=pools)
    for words in (
        "gpuCapacity[0].name: 2 capacities are named 'training'",
        "gpuCapacity[1].name: 2 capacities are named 'training'",
        "gpuCapacity[0].rungs[0].name: 2 pools are named 'spot'",
        "gpuPools[0].name: 2 pools are named 'spot'",
    ):
        assert words in two
    other = refusal(LADDER, cluster={"autoscaler": {"expander": "least-waste"}})
    assert "cluster.autoscaler.expander: gpuCapacity needs priority, not 'least-waste'" in other
    autoscaler = {"expander": "random", "balanceSimilarPools": True}
    both = refusal(LADDER, cluster={"autoscaler": autoscaler})
    assert both.count("cluster.autoscaler.") == 2
    assert "cluster.autoscaler.balanceSimilarPools: would add nodes to all rungs" in both
