"""Programs that say what no provider takes: no rule breaks, and none keeps the others from judging.

Whatever stands at whatever place of whatever resource, each rule finds something, passes, or says
that it cannot read that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pulumi_policy import EnforcementLevel, ResourceValidationArgs, proxy
from pulumi_policy.deserialize import (
    SPECIAL_ARCHIVE_SIG,
    SPECIAL_ASSET_SIG,
    SPECIAL_SIG_KEY,
)

from aks_pools.pools import Pool
from policies.rule import Findings, PoolRule, ResourceRule, Settings
from policies.rules import RULES
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import FAILED, Unknowns
from tests.policies.gpu_stacks import TOLERATION, daemon_set, pool, release, required, together
from tests.policies.policy_harness import CANNOT_RUN, Resource, pack_says, secret
from tests.policies.pool_variants import CPU, FORMS, VALID
from tests.policies.test_rules import ON, SETTINGS

EXPRESSION = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}
ENV = {"name": "FAIL_ON_INIT_ERROR", "value": "true"}
CONTAINER = {"args": ["--mig-strategy=none"], "command": ["nvidia-device-plugin"], "env": [ENV]}
PLUGIN = daemon_set(
    TOLERATION,
    affinity=required([EXPRESSION]),
    nodeSelector={"kubernetes.io/os": "linux"},
    container=CONTAINER,
    initContainers=[{"name": "a", "image": "busybox", "env": [ENV]}],
)
PODS = PLUGIN.properties["spec"]["template"]
VALUES: dict[str, Any] = {
    "driver": {"enabled": True},
    "devicePlugin": {"enabled": True},
    "daemonsets": {"tolerations": [TOLERATION]},
    "mig": {"strategy": "none"},
    "affinity": required([EXPRESSION]),
    "tolerations": [TOLERATION],
    "failOnInitError": True,
}
# A pool with a word for everything that a rule asks of one.
POOL: dict[str, Any] = {
    **VALID,
    "vmSize": "Standard_NC24ads_A100_v4",
    "gpuInstanceProfile": "MIG1g",
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Deallocate",
    "upgradeSettings": {"maxSurge": "10%"},
    "nodeLabels": {"a": "b"},
    "nodeInitializationTaints": ["a=b:NoSchedule"],
    "tags": {"owner": "a", "SkipGPUDriverInstall": "true"},
    "customHeaders": {"AKSHTTPCustomFeatures": "Microsoft.ContainerService/GPU"},
    "gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Unmanaged"}},
}
MACHINES = {
    "scale": {
        "manual": [{"size": "Standard_NC24ads_A100_v4", "count": 1}],
        "autoscale": [{"sizes": ["Standard_NC6"], "minCount": 0, "maxCount": 2}],
    }
}


def of(kind: str, **properties: Any) -> Resource:
    return Resource(type=kind, name=named(kind), properties=properties)


def named(kind: str) -> str:
    """A cluster is that of the stack."""
    return "own" if kind.endswith("Cluster") else "odd"


RESOURCES = [
    *(form.resource(POOL, name=named(form.type)) for form in FORMS),
    pool("odd", vmSize=None, virtualMachinesProfile=MACHINES),
    of("azure-native:containerservice:ManagedCluster", kubernetesVersion="1.30"),
    of("azure-native:features:SubscriptionFeatureRegistration", featureName="a"),
    of("pulumi:providers:kubernetes", kubeconfig="kind: Config"),
    PLUGIN,
    *(
        of(f"kubernetes:{kind}", spec={"template": PODS})
        for kind in ("apps/v1:Deployment", "batch/v1:Job", "batch.volcano.sh/v1alpha1:Job")
    ),
    of("kubernetes:core/v1:Pod", spec=PODS["spec"]),
    of("kubernetes:core/v1:ConfigMap", data={"a": "kind: Config"}, binaryData={"b": "a2luZA=="}),
    release("gpu-operator", **VALUES),
    release("nvidia-device-plugin", **VALUES),
    of("kubernetes:nvidia.com/v1:ClusterPolicy", spec=VALUES),
    of("kubernetes:apps/v1:DaemonSetList", items=[PLUGIN.properties]),
]
# Another pool, which every rule on pools finds the same of, whatever stands beside it.
BESIDE = pool("beside", osType="Windows", vmSize="Standard_NC6")

UNKNOWN = [value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_")]
ASSETS = [
    {SPECIAL_SIG_KEY: SPECIAL_ASSET_SIG, "text": "a"},
    {SPECIAL_SIG_KEY: SPECIAL_ARCHIVE_SIG, "path": "a"},
]
KEYS = ["", "key", "name", "enabled", "nvidia.com/gpu", "Größe", "__target"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "true", "1e999", "NaN", "None", "a=b:NoSchedule", "\x1b[31m", "x" * 99]),
    st.sampled_from(["+-5", "-", "²", "٣", "9" * 5000, "1e99999999999999999999", "1.²", "9Ei"]),
    st.text(max_size=5),
    st.sampled_from(UNKNOWN),
    st.sampled_from(ASSETS),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
        inner.map(secret),
    ),
    max_leaves=5,
)


def places(whole: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each place in a value, by the steps to it."""
    if above:
        yield above
    if isinstance(whole, Mapping | list):
        for step in whole if isinstance(whole, Mapping) else range(len(whole)):
            yield from places(whole[step], (*above, step))


def replaced(whole: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The whole with another value at a place, as far as there is such a place any more."""
    if not place:
        return value
    step, *more = place
    if isinstance(whole, list) and isinstance(step, int) and step < len(whole):
        return [*whole[:step], replaced(whole[step], tuple(more), value), *whole[step + 1 :]]
    if isinstance(whole, Mapping) and step in whole:
        return {**whole, step: replaced(whole[step], tuple(more), value)}
    return whole


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.type)
# To shrink what fails takes minutes, and makes it no clearer: one place of one resource is odd.
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_rule_breaks(resource: Resource, data: st.DataObject) -> None:
    """A `driver: x` or an `env: [null]` ended the whole pack, with a traceback and no rule."""
    odd: Any = resource.properties
    for place in data.draw(st.lists(st.sampled_from([*places(odd)]), min_size=1, max_size=3)):
        odd = replaced(odd, place, data.draw(ANYTHING))
    broken = replace(resource, properties=odd)

    said = pack_says(RULES, *together(BESIDE, broken), config=SETTINGS, levels=ON)

    assert not [message for _, _, message in said if FAILED in message]
    assert {rule for name, rule, _ in said if name == "beside"} >= FOUND_BESIDE


FOUND_BESIDE = {"gpu-pool-linux-only", "gpu-size-retired", "allowed-gpu-sizes"}


@pytest.mark.parametrize("odd", [5, "x", [None, ["a"]], {"a": 1}], ids=str)
def test_an_odd_value_of_a_gpu_pool_is_a_finding_of_the_rules_own_level(odd: Any) -> None:
    """A text where a list of taints belongs was read letter by letter, and later refused nothing.

    A value of a pool without GPUs, and of what is on the cluster, counts as not set.
    """
    levels = {"gpu-pool-tainted": "mandatory"}
    for vm_size, is_told in ((VALID["vmSize"], True), (CPU, False)):
        said = pack_says(RULES, pool(nodeTaints=odd, vmSize=vm_size), config={}, levels=levels)
        told = [message for _, rule, message in said if rule == "gpu-pool-tainted"]
        assert [" cannot be judged: nodeTaints" in message for message in told] == [True] * is_told
    plugin = daemon_set(TOLERATION, nodeSelector=odd)
    said = pack_says(RULES, *together(pool(), plugin), config={})
    assert not [message for _, _, message in said if CANNOT_RUN in message]


def test_a_rule_that_is_at_fault_says_so_and_keeps_no_other_from_judging() -> None:
    """An exception in a rule ended the pack; the engine named neither the rule nor a resource."""

    @PoolRule(title="a", description="a", remedy="a", tags=())
    def at_fault(pool: Pool, _: Settings) -> Findings:
        yield f"has {int(pool.text('vmSize'))} GPUs."

    @StackRule(title="b", description="b", remedy="b", tags=())
    def on_stack(members: Members, _: Settings, __: Unknowns) -> StackFindings:
        yield f"{len(members) // 0}", ""

    async def mend(_: ResourceValidationArgs) -> dict[str, Any]:
        raise KeyError("a secret")

    @ResourceRule(
        title="c",
        description="c",
        remedy="c",
        tags=(),
        level=EnforcementLevel.REMEDIATE,
        remediate=mend,
    )
    def mending(_: ResourceValidationArgs, __: Settings, ___: Unknowns) -> Findings:
        yield from ()

    said = pack_says([at_fault, on_stack, mending, *RULES], BESIDE, config=SETTINGS, levels=ON)

    told = [(name, rule) for name, rule, message in said if FAILED in message]
    assert told == [("beside", "mending"), ("beside", "at-fault"), ("", "on-stack")]
    # What is wrong with a value can have the value in it.
    assert not [message for _, _, message in said if "a secret" in message]
    assert {rule for name, rule, _ in said if name == "beside"} >= FOUND_BESIDE
