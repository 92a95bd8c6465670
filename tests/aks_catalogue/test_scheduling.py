"""Which nodes a pod may go to, as kube-scheduler decides it.

One table of cases for all who decide it: the rules of the pack, the check of a cluster, and the
rehearsal's autoscaler.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aks_catalogue.scheduling import Taint, unmet_affinity, unmet_selector
from aks_pools.pools import pools_of
from aksgpu.check import cluster_view, plugin_scheduling
from aksgpu.check.cluster_view import ClusterView
from aksgpu.check.expected import Expected
from aksgpu.outcome import Cause
from policies import scheduling as rules
from rehearsal.control_planes.autoscaler import fits

Json = dict[str, Any]

LABELS = {"team": "vision", "cores": "4", "empty": ""}
NOTHING: dict[str, str] = {}
TAINT = "sku=gpu:NoSchedule"


def _by_the_rules(spec: Json, taints: list[str]) -> bool:
    properties = {"vmSize": "Standard_NC8as_T4_v3", "nodeLabels": LABELS, "nodeTaints": taints}
    [pool] = pools_of("azure-native:containerservice:AgentPool", properties)
    return bool(min(rules.is_selected(pool, spec), rules.tolerates(pool, spec)))


def _node(taints: list[str]) -> Json:
    return {
        "metadata": {"name": "n0", "labels": {**LABELS, "accelerator": "nvidia"}},
        "spec": {"taints": [asdict(Taint.parse(taint)) for taint in taints]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def _by_the_check(spec: Json, taints: list[str]) -> bool:
    container = {"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.18.2"}
    template = {"spec": {"containers": [container], **spec}}
    item = {"metadata": {"namespace": "ns", "name": "d"}, "spec": {"template": template}}
    [daemon_set] = cluster_view.daemon_sets([item])
    [node] = cluster_view.nodes([_node(taints)], [])
    view = ClusterView(nodes=(node,), daemon_sets=(daemon_set,))
    cause, _ = plugin_scheduling.to_node(view, node, Expected())
    return cause is Cause.PLUGIN_NOT_RUNNING


def _by_the_autoscaler(spec: Json, taints: list[str]) -> bool:
    return fits({"spec": spec}, _node(taints))


USERS: Mapping[str, Callable[[Json, list[str]], bool]] = {
    "rules": _by_the_rules,
    "check": _by_the_check,
    "autoscaler": _by_the_autoscaler,
}


def _asks(*terms: Json) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": list(terms)}}}}


def _label(key: str, operator: str, *values: str) -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


TEAM, OTHER = _label("team", "In", "vision"), _label("team", "In", "speech")

SELECTION = [
    ("nothing is asked", {}, True),
    ("selector met", {"nodeSelector": {"team": "vision"}}, True),
    ("selector unmet", {"nodeSelector": {"team": "speech"}}, False),
    ("selector met in part", {"nodeSelector": {"team": "vision", "none": "x"}}, False),
    ("no affinity to nodes", {"affinity": {"nodeAffinity": {}}}, True),
    ("no term", _asks(), False),
    ("an empty term", _asks({}), False),
    ("a term with empty lists", _asks({"matchExpressions": [], "matchFields": []}), False),
    ("an empty term beside another", _asks({}, TEAM), True),
    ("one term of two", _asks(OTHER, TEAM), True),
    ("no term of two", _asks(OTHER, OTHER), False),
    ("selector and affinity", {"nodeSelector": {"none": "x"}} | _asks(TEAM), False),
    ("In", _asks(_label("team", "In", "speech", "vision")), True),
    ("In without the label", _asks(_label("none", "In", "a")), False),
    ("In without values", _asks(_label("team", "In")), False),
    ("NotIn", _asks(_label("team", "NotIn", "speech")), True),
    ("NotIn, and it is", _asks(_label("team", "NotIn", "vision")), False),
    ("NotIn without the label", _asks(_label("none", "NotIn", "a")), True),
    ("NotIn without values", _asks(_label("team", "NotIn")), False),
    ("Exists", _asks(_label("team", "Exists")), True),
    ("Exists without the label", _asks(_label("none", "Exists")), False),
    ("Exists with a value", _asks(_label("team", "Exists", "vision")), False),
    ("Exists of an empty label", _asks(_label("empty", "Exists")), True),
    ("DoesNotExist of an empty label", _asks(_label("empty", "DoesNotExist")), False),
    ("DoesNotExist", _asks(_label("none", "DoesNotExist")), True),
    ("DoesNotExist, and it does", _asks(_label("team", "DoesNotExist")), False),
    ("another operator", _asks(_label("cores", "Gt", "3")), False),
    ("another operator beside a term", _asks(_label("cores", "Gt", "3"), TEAM), True),
    ("another node's name", _asks({"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), None),
    ("a field that nodes do not have", _asks({"matchFields": [
        {"key": "metadata.uid", "operator": "In", "values": ["n0"]}]}), False),
]  # fmt: skip


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("spec", "is_met"), [case[1:] for case in SELECTION], ids=[case[0] for case in SELECTION]
)
def test_selectors_and_affinity_are_matched_with_labels(
    spec: Json, is_met: bool | None, user: str
) -> None:
    # Before there are nodes nobody knows their names: the rules take them for the right ones.
    expected = user == "rules" if is_met is None else is_met
    assert USERS[user](spec, []) is expected


TOLERATIONS: list[tuple[Json, bool]] = [
    ({}, False),
    ({"operator": "Exists"}, True),
    ({"operator": "Exists", "effect": "NoSchedule"}, True),
    ({"operator": "Exists", "effect": "NoExecute"}, False),
    ({"key": "sku", "operator": "Exists"}, True),
    ({"key": "other", "operator": "Exists"}, False),
    ({"key": "sku", "operator": "Exists", "value": "gpu"}, False),
    ({"key": "sku", "value": "gpu"}, True),
    ({"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}, True),
    ({"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoExecute"}, False),
    ({"key": "sku", "operator": "Equal", "value": "cpu"}, False),
    ({"key": "sku"}, False),
    # Without a key only Exists is valid.
    ({"operator": "Equal", "value": "gpu"}, False),
    ({"key": "sku", "operator": "Like", "value": "gpu"}, False),
]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(("toleration", "is_tolerated"), TOLERATIONS)
def test_tolerations_are_matched_with_taints(
    toleration: Json, is_tolerated: bool, user: str
) -> None:
    spec = {"tolerations": [{"key": "unrelated", "operator": "Exists"}, toleration]}
    assert USERS[user](spec, [TAINT]) is is_tolerated
    tolerates_all = is_tolerated and "key" not in toleration
    assert USERS[user](spec, [TAINT, "other=x:NoSchedule"]) is tolerates_all
    assert USERS[user](spec, ["sku=gpu:PreferNoSchedule"])


def test_unknown_labels_exclude_no_pod() -> None:
    for key in ("nvidia.com/gpu.present", "topology.kubernetes.io/zone"):
        spec = {"nodeSelector": {key: "x"}} | _asks(_label(key, "In", "x"))
        assert _by_the_rules(spec, [])
        assert not _by_the_autoscaler(spec, [])
    assert not _by_the_rules(_asks(_label("nvidia.com/gpu.present", "Gt", "1")), [])


def test_unmet_requirements_are_named() -> None:
    assert list(
        unmet_selector({"nodeSelector": {"a": "1", "b": "2"}}, {"a": "1", "b": "3"}.get)
    ) == ["b=2"]
    both = _asks(_label("pool", "In", "there"), _label("pool", "In", "here"))
    assert unmet_affinity(both, {"pool": "here"}.get) == []
    assert unmet_affinity(both, NOTHING.get) == ["pool In (there)", "pool In (here)"]
    assert unmet_affinity(_asks(), NOTHING.get) == ["(an affinity without terms)"]
    assert unmet_affinity({}, NOTHING.get) == []


@pytest.mark.parametrize(
    ("text", "toleration"),
    [
        (
            "sku=gpu:NoSchedule",
            {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        ),
        ("sku:NoExecute", {"key": "sku", "operator": "Exists", "effect": "NoExecute"}),
        ("sku=:NoExecute", {"key": "sku", "operator": "Exists", "effect": "NoExecute"}),
    ],
)
def test_a_taint_has_a_matching_toleration(text: str, toleration: Json) -> None:
    assert Taint.parse(text).toleration == toleration
    assert _by_the_autoscaler({"tolerations": [toleration]}, [text])


def test_an_invalid_taint_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a valid taint: use key=value:effect"):
        Taint.parse("sku=gpu")


OTHERS = ("nvidia.com/gpu.present", "topology.kubernetes.io/zone")
VALUES = st.sampled_from(["vision", "speech", "4", ""])
EXPRESSIONS = st.fixed_dictionaries(
    {
        "key": st.sampled_from([*LABELS, *OTHERS, "none"]),
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"]),
        "values": st.lists(VALUES, max_size=2),
    }
)


@given(
    terms=st.lists(st.lists(EXPRESSIONS, max_size=3), max_size=3),
    others=st.dictionaries(st.sampled_from(OTHERS), VALUES),
)
def test_the_rules_keep_away_no_pod_that_a_node_would_take(
    terms: list[list[Json]], others: dict[str, str]
) -> None:
    """Whatever the labels turn out to be that nobody knows before there are nodes."""
    spec = _asks(*({"matchExpressions": expressions} for expressions in terms))
    node = _node([])
    node["metadata"]["labels"] |= others
    assert _by_the_rules(spec, []) or not fits({"spec": spec}, node)
