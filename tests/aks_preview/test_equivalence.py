"""Diffs settle: what Azure writes otherwise, and what others add, is no change; all else is one."""

from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from aks_preview.aks_diff import aks_diff
from aks_preview.aks_types import AKS_TYPES, AksType
from aks_preview.equivalence import projected
from rehearsal.offline_plug_ins.azure_native.shapes import ObjectOf
from tests.aks_preview.shaped import changed, leaves, random_inputs, respelled

TYPES = st.sampled_from(sorted(AKS_TYPES))
# By their seed: hypothesis's own generators of random numbers take a hundred times as long.
RANDOMS = st.integers(0, 2**32).map(Random)
EXAMPLES = settings(
    # What fails is large, and not made smaller in any useful time.
    max_examples=15,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],
)


def shape_of(aks_type: AksType) -> ObjectOf:
    """What Azure tells of a resource, and a program says."""
    inputs = aks_type.inputs
    fields = {name: inputs.fields[name] for name in inputs.fields.keys() - aks_type.not_sent}
    return ObjectOf(inputs.name, fields, inputs.required)


def read(aks_type: AksType, inputs: Any, actual: Any) -> dict[str, Any]:
    now: dict[str, Any] = projected(aks_type.inputs, inputs, actual)
    return now


@EXAMPLES
@given(TYPES, RANDOMS)
def test_equivalent_values_are_no_change(token: str, random: Random) -> None:
    """The case of a group's name replaced pools; add-ons, tags and `/32` never settled."""
    aks_type = AKS_TYPES[token]
    shape = shape_of(aks_type)
    inputs = random_inputs(random, shape)
    actual = respelled(random, shape, inputs)
    note(f"{inputs}\n{actual}")

    now = read(aks_type, inputs, actual)

    assert aks_diff(aks_type, now, actual, inputs).diffs == []


@EXAMPLES
@given(TYPES, RANDOMS)
def test_a_change_beside_equivalent_values_is_found(token: str, random: Random) -> None:
    aks_type = AKS_TYPES[token]
    shape = shape_of(aks_type)
    inputs = random_inputs(random, shape)
    places = list(leaves(shape, inputs))
    random.shuffle(places)

    for path in {place[0]: place for place in places}.values():
        other = changed(inputs, path)
        # Somebody changed it in Azure.
        drifted = respelled(random, shape, other)
        note(f"{path}\n{inputs}\n{drifted}")
        now = read(aks_type, inputs, drifted)
        assert aks_diff(aks_type, now, drifted, inputs).diffs == [path[0]]
        # The program changed it.
        actual = respelled(random, shape, inputs)
        now = read(aks_type, inputs, actual)
        assert aks_diff(aks_type, now, actual, other).diffs == [path[0]]


POOL, CLUSTER = "AgentPool", "ManagedCluster"


@pytest.mark.parametrize(
    ("kind", "inputs", "actual"),
    [
        (CLUSTER, {"autoScalerProfile": {"scan-interval": "1s ", "skip-nodes-with-local-storage":
         "False"}}, {"autoScalerProfile": {"scan-interval": "1s",
         "skip-nodes-with-local-storage": "false"}}),
        (CLUSTER, {"linuxProfile": {"ssh": {"publicKeys": [{"keyData": "ssh-rsa A x\n"}]}}},
         {"linuxProfile": {"ssh": {"publicKeys": [{"keyData": "ssh-rsa A x"}]}}}),
        (POOL, {"linuxOSConfig": {"sysctls": {"netIpv4IpLocalPortRange": "1024 65535"}}},
         {"linuxOSConfig": {"sysctls": {"netIpv4IpLocalPortRange": "1024\t65535"}}}),
        (POOL, {"networkProfile": {"nodePublicIPTags": [{"ipTagType": "RoutingPreference",
         "tag": "Internet"}]}}, {"networkProfile": {"nodePublicIPTags": [
         {"ipTagType": "routingPreference", "tag": "internet"}]}}),
        (POOL, {"tags": {"a": "", "b": "c"}}, {"tags": {"A": None, "b": "c"}}),
    ],
)  # fmt: skip
def test_further_equivalent_values_are_no_change(kind: str, inputs: Any, actual: Any) -> None:
    """A key that ends in a new line, and a tab for a blank, were drift, or replaced the pool."""
    aks_type = AKS_TYPES[f"aks-preview:containerservice:{kind}"]

    now = read(aks_type, inputs, actual)

    assert now == inputs
    assert aks_diff(aks_type, now, actual, inputs).diffs == []
    assert aks_diff(aks_type, inputs, actual, inputs).diffs == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"tags": {}}, {"tags": {"a": ""}}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "b", "c": ""}}),
        ({"tags": {"a": ""}}, {"tags": {}}),
        ({"tags": {"a": "True"}}, {"tags": {"a": "true"}}),
        ({"tags": {"a": "b"}}, {"tags": {"a": "b "}}),
        ({"nodeLabels": {"a": "True"}}, {"nodeLabels": {"a": "true"}}),
        ({"tags": {"a": "0"}}, {"tags": {"a": ""}}),
    ],
)
def test_values_that_only_look_equivalent_are_a_change(old: Any, new: Any) -> None:
    aks_type = AKS_TYPES["aks-preview:containerservice:AgentPool"]

    assert aks_diff(aks_type, old, old, new).diffs == [*old]


def test_the_case_of_a_tags_value_is_a_change() -> None:
    ids = {"tags": {"Of": "/subscriptions/a"}}
    now = read(
        AKS_TYPES["aks-preview:containerservice:AgentPool"],
        ids,
        {"tags": {"of": "/subscriptions/A"}},
    )

    assert now == {"tags": {"Of": "/subscriptions/A"}}
