"""Pools are read the same in every form; so each rule is tested with one form."""

from collections.abc import Mapping
from typing import Any

from aks_pools.pools import pools_of
from policies.rules import RULES
from tests.policies.gpu_stacks import TOLERATION, daemon_set, together
from tests.policies.policy_harness import pack_says
from tests.policies.pool_variants import (
    AGENT_POOL,
    CLUSTER,
    CPU,
    FORMS,
    VALID,
    Form,
    changed,
    every_form,
)
from tests.policies.test_rules import ON, SETTINGS

# Between them, every rule on pools finds something.
WRONG: list[Mapping[str, Any]] = [
    {
        **VALID,
        "vmSize": "Standard_NV6ads_A10_v5",
        "osType": "Windows",
        "mode": "System",
        "enableAutoScaling": False,
        "enableEncryptionAtHost": False,
        "nodeTaints": [],
        "orchestratorVersion": "1.9",
        "gpuInstanceProfile": "MIG1g",
        "scaleSetPriority": "Spot",
        "scaleSetEvictionPolicy": "Deallocate",
        "tags": {"SkipGPUDriverInstall": "true"},
    },
    {**VALID, "vmSize": "Standard_NC6", "count": 9, "enableAutoScaling": False},
    {**VALID, "minCount": 2, "nodeTaints": ["team=a:NoExecute"], "gpuProfile": {"driver": "None"}},
    {**VALID, "vmSize": "Standard_NC9_v9", "maxCount": None},
]
# Azure's properties of a pool that no form leaves out.
EVERYWHERE = VALID.keys() - {"osType", "mode", "nodeTaints", "agentPoolName"}


@every_form(FORMS)
def test_every_property_is_read_and_named_as_it_is_written(form: Form) -> None:
    pool = {**WRONG[0], "gpuProfile": {"driver": "None"}}
    (read,) = pools_of(form.type, form.resource(pool).properties)
    # An inline pool's name is not a property of azure-native's separate pools.
    known = pool.keys() - form.lacks - {"agentPoolName"}

    assert known >= EVERYWHERE
    assert {name: read.properties[name] for name in known} == {name: pool[name] for name in known}
    assert {name: read.name_of(name) for name in known} == {name: form.said(name) for name in known}
    assert (read.label, read.inline) == (form.label, bool(form.inline))


@every_form(FORMS)
def test_a_property_that_is_left_out_has_the_newest_name(form: Form) -> None:
    (read,) = pools_of(form.type, form.resource({"vmSize": CPU}).properties)
    newest = next(other for other in FORMS if other.type == form.type)

    for name in ("enableAutoScaling", "enableEncryptionAtHost"):
        assert read.name_of(name) == newest.said(name)


def found(form: Form, pool: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rules of the pack that find something in a stack with this pool, and in what."""
    written = form.resource(pool, name="pool", stack="prod")
    stack = together(written, daemon_set(TOLERATION))
    said = pack_says(RULES, *stack, config=SETTINGS, levels=ON)
    return sorted((name, rule) for name, rule, _ in said)


@every_form(FORMS)
def test_every_rule_finds_the_same_in_every_form(form: Form) -> None:
    reference = CLUSTER if form.inline else AGENT_POOL
    for wrong in WRONG:
        pool = changed({**wrong, **dict.fromkeys(form.lacks)})
        # What the classic provider's clusters are without saying so.
        fixed = {"osType": "Linux", "mode": "System"} if "mode" in form.lacks else {}

        rules = found(form, pool)

        assert rules == found(reference, pool | fixed)
        assert rules


def test_every_rule_on_pools_finds_something_here() -> None:
    rules = {
        rule for form in (AGENT_POOL, CLUSTER) for pool in WRONG for _, rule in found(form, pool)
    }
    assert rules >= ON_POOLS


ON_POOLS = {
    "allowed-gpu-sizes", "device-plugin-toleration-unclear", "gpu-count-cap", "gpu-image-retired",
    "gpu-mig-supported", "gpu-pool-autoscaling", "gpu-pool-linux-only", "gpu-pool-minimum-size",
    "gpu-pool-separate", "gpu-pool-tainted", "gpu-size-retired", "gpu-size-unknown",
    "gpu-spot-settings", "host-encryption", "kubernetes-minimum-version",
    "gpu-stack-owner-unclear", "protect-production-pools",
}  # fmt: skip


@every_form(FORMS)
def test_valid_pools_pass(form: Form) -> None:
    pool = {"vmSize": CPU, "mode": "System"} if form.inline else VALID
    resource = form.resource(pool, stack="prod", protect=True)
    assert pack_says(RULES, resource, config=SETTINGS) == []
