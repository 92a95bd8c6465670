"""What a change of inputs comes to."""

from typing import Any

import pytest
from pulumi.provider.experimental.provider import DiffResponse

from rehearsal.offline_plug_ins.kubernetes.differences import object_diff
from rehearsal.offline_plug_ins.kubernetes.objects import AUTONAMED, Object


def asked(api_version: str, kind: str, meta: dict[str, Any] | None = None, **more: Any) -> Object:
    metadata = {"name": "x", "namespace": "default", **(meta or {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def diff_of(old: Object, new: Object) -> DiffResponse:
    return object_diff(old, new, ignored=(), has_mutable_config_maps=False)


def test_a_provider_can_have_config_maps_that_change() -> None:
    old, new = (asked("v1", "ConfigMap", data={"a": value}) for value in "12")
    found = object_diff(old, new, ignored=(), has_mutable_config_maps=True)
    assert (found.changes, found.replaces, found.delete_before_replace) == (True, [], False)
    renamed = asked("v1", "ConfigMap", {"name": "other"})
    found = object_diff(old, renamed, ignored=(), has_mutable_config_maps=True)
    assert found.replaces == ["metadata.name"]


@pytest.mark.parametrize(
    ("api_version", "kind", "path"),
    [
        ("apps/v1", "DaemonSet", ("spec", "selector", "matchLabels")),
        ("apps/v1", "Deployment", ("spec", "selector", "matchLabels")),
        ("batch/v1", "Job", ("spec", "template", "spec")),
        ("batch/v1", "Job", ("spec", "completions")),
        ("v1", "ConfigMap", ("data", "a")),
        ("v1", "Secret", ("stringData", "a")),
        ("v1", "ConfigMap", ("metadata", "name")),
        ("v1", "ConfigMap", ("metadata", "namespace")),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", ("roleRef", "name")),
    ],
)
def test_an_immutable_field_replaces_the_object(
    api_version: str, kind: str, path: tuple[str, ...]
) -> None:
    def with_value(value: Any) -> Object:
        result = asked(api_version, kind)
        inner = result
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
        return result

    assert diff_of(with_value("1"), with_value("2")).replaces == [".".join(path)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            asked("apps/v1", "DaemonSet", spec={"template": {"spec": {"containers": ["1"]}}}),
            asked("apps/v1", "DaemonSet", spec={"template": {"spec": {"containers": ["2"]}}}),
        ),
        (
            asked("batch/v1", "Job", spec={"suspend": True}),
            asked("batch/v1", "Job", spec={"suspend": False}),
        ),
        (asked("v1", "ConfigMap", {"labels": {"a": "1"}}), asked("v1", "ConfigMap")),
    ],
)
def test_a_mutable_field_is_updated_in_place(old: Object, new: Object) -> None:
    assert diff_of(old, new).changes
    assert diff_of(old, new).replaces == []


def test_the_old_object_is_deleted_first_if_the_new_one_needs_its_name() -> None:
    old, new = (asked("v1", "ConfigMap", data={"a": value}) for value in "12")
    assert diff_of(old, new).delete_before_replace

    autonamed = {"annotations": {AUTONAMED: "true"}}
    old, new = (asked("v1", "ConfigMap", autonamed, data={"a": value}) for value in "12")
    assert diff_of(old, new).replaces
    assert not diff_of(old, new).delete_before_replace
    moved = asked("v1", "ConfigMap", {"namespace": "other"})
    assert not diff_of(asked("v1", "ConfigMap"), moved).delete_before_replace


def test_equivalent_values_are_no_change() -> None:
    def limited(**limits: Any) -> Object:
        return asked("apps/v1", "DaemonSet", spec={"resources": {"limits": limits}})

    assert not diff_of(limited(cpu="1000m", gpu=1), limited(cpu=1, gpu="1")).changes
    assert diff_of(limited(cpu="1000m"), limited(cpu="100m")).changes


def test_quantities_are_the_same_in_a_list_that_grows() -> None:
    def with_containers(*cpus: Any) -> Object:
        containers = [{"resources": {"limits": {"cpu": cpu}}} for cpu in cpus]
        return asked("apps/v1", "DaemonSet", spec={"containers": containers})

    changed = diff_of(with_containers("1000m"), with_containers(1, 2))
    assert [*changed.detailed_diff] == ["spec.containers[1]"]
    assert not changed.diffs


def test_a_missing_namespace_is_no_change() -> None:
    nowhere = asked("v1", "ConfigMap")
    del nowhere["metadata"]["namespace"]

    assert not diff_of(asked("v1", "ConfigMap"), nowhere).changes
    assert not diff_of(nowhere, asked("v1", "ConfigMap")).changes
