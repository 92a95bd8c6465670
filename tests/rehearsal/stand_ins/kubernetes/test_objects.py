"""Who objects are, and what of them is not known here."""

import pytest

from provider_kit.serving import ProviderError
from rehearsal.stand_ins.kubernetes.cover import check_arguments, typed
from rehearsal.stand_ins.kubernetes.objects import (
    AUTONAMED,
    Object,
    identified,
    named,
    object_id,
    type_name,
    unwired,
    wired,
    without_nulls,
)
from rehearsal.stand_ins.kubernetes.writing import merge_patch


def test_types_are_kinds_of_kubernetes() -> None:
    assert type_name("kubernetes:core/v1:Namespace") == ("v1", "Namespace")
    assert type_name("kubernetes:apps/v1:DaemonSet") == ("apps/v1", "DaemonSet")
    assert type_name("kubernetes:yaml:ConfigGroup") is None


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        ("kubernetes:helm.sh/v3:Release", {}),
        ("kubernetes:yaml/v2:ConfigGroup", {}),
        ("kubernetes:core/v1:ConfigMapPatch", {"kind": "ConfigMap"}),
    ],
)
def test_what_is_not_known_is_refused_by_its_name(token: str, inputs: Object) -> None:
    with pytest.raises(ProviderError, match=f"does not know the type {token}"):
        typed(token, inputs)


def test_a_parents_type_does_not_matter() -> None:
    assert typed("my:Component$kubernetes:core/v1:Pod", {}) == ("v1", "Pod")


def test_arguments_that_would_do_something_else_are_refused() -> None:
    check_arguments({"kubeconfig": "k", "renderYamlToDirectory": ""})
    with pytest.raises(ProviderError, match="the provider argument renderYamlToDirectory"):
        check_arguments({"renderYamlToDirectory": "out"})


def test_ids_name_the_namespace_where_there_is_one() -> None:
    namespaced = identified("ns/x", typed("kubernetes:core/v1:Pod", {}))
    assert namespaced["metadata"] == {"name": "x", "namespace": "ns"}
    assert object_id(namespaced) == "ns/x"
    assert object_id(identified("x", typed("kubernetes:core/v1:Namespace", {}))) == "x"


def test_a_name_is_made_up_once() -> None:
    new = named({"metadata": {"labels": {"a": "1"}}}, {}, "base", b"seed")
    name = new["metadata"]["name"]
    assert name.startswith("base-")
    assert len(name) == len("base-") + 8
    assert new["metadata"]["annotations"] == {AUTONAMED: "true"}
    assert new["metadata"]["labels"] == {"a": "1"}

    assert named({}, new, "base", b"other")["metadata"]["name"] == name
    assert named({"metadata": {"name": "own"}}, new, "base", b"") == {"metadata": {"name": "own"}}
    # A name of the user's own that is said no more is none to keep.
    assert named({}, {"metadata": {"name": "own"}}, "base", b"") == {}


def test_extensions_are_named_as_the_server_names_them() -> None:
    said = {"properties": [{"x_kubernetes_int_or_string": True}]}
    sent = {"properties": [{"x-kubernetes-int-or-string": True}]}

    assert wired(said) == sent
    assert unwired(sent) == said


def test_what_says_nothing_is_left_out() -> None:
    assert without_nulls({"a": None, "b": [{"c": None}]}) == {"b": [{}]}


def test_a_merge_patch_takes_away_what_is_not_said_any_more() -> None:
    old = {"data": {"a": "1", "b": "2"}, "kind": "ConfigMap"}
    new = {"data": {"a": "1", "c": "3"}, "kind": "ConfigMap"}

    assert merge_patch(old, new) == {"data": {"b": None, "c": "3"}}
