"""What is drift, and what is only said in other words."""

from typing import Any

import pytest

from rehearsal.offline_plug_ins.kubernetes.differences import drifted
from rehearsal.offline_plug_ins.kubernetes.recorded import imported, outputs, recorded, refreshed


@pytest.mark.parametrize(
    ("inputs", "live"),
    [
        ("1000m", "1"),
        (1, "1"),
        ("1024Mi", "1Gi"),
        ("0.5", "500m"),
        (0.5, "500m"),
        ("512Ki", "0.5Mi"),
    ],
)
def test_equivalent_quantities_are_no_drift(inputs: Any, live: Any) -> None:
    assert drifted({"limits": {"cpu": inputs}}, {"limits": {"cpu": live}}) == {
        "limits": {"cpu": inputs}
    }


@pytest.mark.parametrize(
    ("inputs", "live"),
    [
        ("1", "2"),
        ("1Gi", "1G"),
        (True, "1"),
        ("x", "y"),
        # The same amounts, but Kubernetes writes a quantity in the notation that it was given.
        ("256Mi", "268435456"),
        ("1e3", "1k"),
    ],
)
def test_other_quantities_are_drift(inputs: Any, live: Any) -> None:
    assert drifted({"limits": {"cpu": inputs}}, {"limits": {"cpu": live}}) == {
        "limits": {"cpu": live}
    }


def test_only_quantities_are_compared_as_quantities() -> None:
    assert drifted({"args": ["1000m"]}, {"args": ["1"]}) == {"args": ["1"]}


def test_defaults_of_the_server_are_no_drift() -> None:
    inputs = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    live = {
        "spec": {
            "containers": [{"name": "c", "image": "i", "ports": []}],
            "dnsPolicy": "ClusterFirst",
        }
    }

    assert drifted(inputs, live) == inputs


@pytest.mark.parametrize(
    ("inputs", "live"),
    [
        ({"args": ["a", "b"]}, {"args": ["a"]}),
        ({"labels": {"a": "1"}}, {"labels": {}}),
        ({"containers": [{"name": "c"}]}, {"containers": [{"name": "sidecar"}]}),
        ({"containers": [{"name": "c", "image": "i"}]}, {"containers": []}),
    ],
)
def test_changes_of_other_clients_are_drift(inputs: Any, live: Any) -> None:
    assert drifted(inputs, live) == live


@pytest.mark.parametrize(
    ("inputs", "live"),
    [
        ({"args": ["a"]}, {"args": ["a", "b"]}),
        ({"rules": [{"verbs": ["get"]}]}, {"rules": [{"verbs": ["get"]}, {"verbs": ["*"]}]}),
        ({"values": ["own"]}, {"values": ["own", "otherpool"]}),
    ],
)
def test_what_others_add_to_the_end_of_a_list_is_no_drift(inputs: Any, live: Any) -> None:
    """The real plug-in reads as many items as the inputs have. Rehearsals took more of them away:
    a device plugin that is bound to a further pool by hand stays so on Azure.
    """
    assert drifted(inputs, live) == inputs


def test_the_data_of_a_secret_is_always_secret() -> None:
    held = {"kind": "Secret", "data": {"a": "Yg=="}, "type": "Opaque"}

    assert [name for name, value in recorded(held).items() if value.is_secret] == ["data"]
    assert not any(value.is_secret for value in recorded(held | {"kind": "ConfigMap"}).values())


def test_a_refresh_reads_extensions_as_the_sdk_writes_them() -> None:
    inputs = {"kind": "CustomResourceDefinition", "spec": {"x_kubernetes_map_type": "atomic"}}
    live = {"kind": "CustomResourceDefinition", "spec": {"x-kubernetes-map-type": "atomic"}}

    assert refreshed(inputs, live) == inputs


def test_the_inputs_of_an_import_are_all_settable_fields() -> None:
    live = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "uid": "u", "labels": {"a": "1"}},
        "data": {"a": "1"},
        "status": {},
    }

    inputs = imported(outputs(live, "manager"))

    assert inputs["metadata"] == {"name": "x", "labels": {"a": "1"}}
    assert inputs["data"] == {"a": "1"}
    assert not {"status", "__fieldManager", "__initialApiVersion"} & inputs.keys()
