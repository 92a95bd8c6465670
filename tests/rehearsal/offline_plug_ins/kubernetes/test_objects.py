"""Who objects are, and what of them is not known here."""

import pytest

from provider_kit.serving import ProviderError
from provider_kit.values import UNKNOWN
from rehearsal.offline_plug_ins.kubernetes.connection import check_arguments
from rehearsal.offline_plug_ins.kubernetes.objects import (
    AUTONAMED,
    Object,
    identified,
    named,
    object_id,
    typed,
    unwired,
    wired,
)


def test_types_of_pulumi_are_kinds_of_kubernetes() -> None:
    assert typed("kubernetes:core/v1:Namespace", {}) == ("v1", "Namespace")
    assert typed("kubernetes:apps/v1:DaemonSet", {}) == ("apps/v1", "DaemonSet")
    assert typed("kubernetes:example.com/v1:Ingress", {}) == ("example.com/v1", "Ingress")


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        ("kubernetes:helm.sh/v3:Release", {}),
        ("kubernetes:yaml/v2:ConfigGroup", {}),
        ("kubernetes:yaml:ConfigGroup", {}),
        ("kubernetes:core/v1:Pod", {}),
        ("kubernetes:core/v1:PersistentVolumeClaim", {}),
        ("kubernetes:apps/v1:StatefulSet", {}),
        ("kubernetes:networking.k8s.io/v1:Ingress", {}),
        ("kubernetes:core/v1:ConfigMapPatch", {"kind": "ConfigMap"}),
    ],
)
def test_an_unsupported_type_is_refused_by_name(token: str, inputs: Object) -> None:
    with pytest.raises(ProviderError, match=f"does not support the type {token}"):
        typed(token, inputs)


def test_a_parents_type_does_not_matter() -> None:
    assert typed("my:Component$kubernetes:core/v1:Service", {}) == ("v1", "Service")


def test_an_unsupported_wait_is_refused_by_name() -> None:
    balanced = {"kind": "Service", "spec": {"type": "LoadBalancer"}}
    with pytest.raises(ProviderError, match="not support a Service of the type LoadBalancer"):
        typed("kubernetes:core/v1:Service", balanced)
    annotated = {"metadata": {"annotations": {"a": "b", "pulumi.com/waitFor": "[]"}}}
    with pytest.raises(ProviderError, match=r"not support the annotation pulumi\.com/waitFor"):
        typed("kubernetes:batch/v1:Job", annotated)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("renderYamlToDirectory", "out"),
        ("enableServerSideApply", "false"),
        ("upsertExistingObjects", "true"),
        ("context", "other"),
    ],
)
def test_unsupported_arguments_are_refused(argument: str, value: str) -> None:
    check_arguments({"kubeconfig": "k", argument: "", "enablePatchForce": "false"})
    with pytest.raises(ProviderError, match=f"the provider argument {argument}"):
        check_arguments({argument: value})


def test_ids_contain_the_namespace_of_namespaced_objects() -> None:
    namespaced = identified("ns/x", typed("kubernetes:core/v1:Secret", {}))
    assert namespaced["metadata"] == {"name": "x", "namespace": "ns"}
    assert object_id(namespaced) == "ns/x"
    assert object_id(identified("x", typed("kubernetes:core/v1:Namespace", {}))) == "x"


def test_a_name_is_generated_once() -> None:
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


def test_extensions_have_the_servers_names() -> None:
    schema = {"properties": [{"x_kubernetes_int_or_string": True}]}
    sent = {"properties": [{"x-kubernetes-int-or-string": True}]}

    assert wired(schema) == sent
    assert unwired(sent) == schema


def test_annotations_that_are_not_known_yet_are_left_alone() -> None:
    """An output in their place was an internal error of the offline plug-in, in every preview."""
    asked = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": UNKNOWN}}

    assert typed("kubernetes:core/v1:ConfigMap", asked).kind == "ConfigMap"
    generated = named(asked, {}, "base", b"seed")["metadata"]
    assert generated["name"].startswith("base-")
    assert generated["annotations"] is UNKNOWN
