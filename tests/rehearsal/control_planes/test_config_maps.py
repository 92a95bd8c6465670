"""What containers get of ConfigMaps."""

from typing import Any

import pytest

from rehearsal.control_planes import config_maps
from rehearsal.control_planes.config_maps import environment, file_text, unmounted

Json = dict[str, Any]

MAPS = config_maps.by_name(
    [
        {
            "metadata": {"name": "settings", "namespace": "n"},
            "data": {"config.yaml": "text", "other": "else"},
        },
        {"metadata": {"name": "empty", "namespace": "n"}},
        {"metadata": {"name": "far", "namespace": "elsewhere"}, "data": {"config.yaml": "far"}},
    ]
)
WHOLE = {"configMap": {"name": "settings"}}
ITEM = {"configMap": {"name": "settings", "items": [{"key": "config.yaml", "path": "a/b.yaml"}]}}
PROJECTED = {"projected": {"sources": [{"secret": {"name": "s"}}, ITEM]}}
OTHER: Json = {"emptyDir": {}}


def pod(volume: Json, **mount: str) -> Json:
    container = {"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/config", **mount}]}
    spec = {"containers": [container], "volumes": [{"name": "v", **volume}]}
    return {"metadata": {"name": "p", "namespace": "n"}, "spec": spec}


def read(path: str, volume: Json, **mount: str) -> str | None:
    spec = pod(volume, **mount)["spec"]
    return file_text(spec, spec["containers"][0], path, "n", MAPS)


@pytest.mark.parametrize(
    ("path", "volume", "mount", "text"),
    [
        ("/config/config.yaml", WHOLE, {}, "text"),
        ("/config/../config//config.yaml", WHOLE, {}, "text"),
        ("/config/config.yaml", WHOLE, {"mountPath": "/config/"}, "text"),
        ("/config.yaml", WHOLE, {"mountPath": "/"}, "text"),
        ("/config/missing.yaml", WHOLE, {}, None),
        ("/configs/config.yaml", WHOLE, {}, None),
        ("/config", WHOLE, {}, None),
        ("/config/a/b.yaml", ITEM, {}, "text"),
        ("/config/config.yaml", ITEM, {}, None),
        ("/config/a/b.yaml", PROJECTED, {}, "text"),
        ("/etc/c.yaml", WHOLE, {"mountPath": "/etc/c.yaml", "subPath": "config.yaml"}, "text"),
        ("/etc/b.yaml", ITEM, {"mountPath": "/etc", "subPath": "a"}, "text"),
        ("/config/config.yaml", OTHER, {}, None),
        ("/config/config.yaml", {"configMap": {"name": "empty"}}, {}, None),
        # Of another namespace.
        ("/config/config.yaml", {"configMap": {"name": "far", "optional": True}}, {}, None),
        ("/config/config.yaml", {"configMap": {"name": "far"}}, {}, None),
    ],
)
def test_a_mounted_config_map_gives_the_text_of_a_file(
    path: str, volume: Json, mount: dict[str, str], text: str | None
) -> None:
    assert read(path, volume, **mount) == text


def test_the_innermost_mount_is_used() -> None:
    spec = pod(OTHER)["spec"]
    spec["volumes"].append({"name": "inner", **WHOLE})
    spec["containers"][0]["volumeMounts"].append({"name": "inner", "mountPath": "/config/x"})
    container = spec["containers"][0]
    assert file_text(spec, container, "/config/x/config.yaml", "n", MAPS) == "text"
    assert file_text(spec, container, "/config/config.yaml", "n", MAPS) is None


def test_a_container_without_mounts_has_no_file() -> None:
    assert file_text({"containers": []}, {"name": "c"}, "/config/config.yaml", "n", MAPS) is None


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ({"name": "settings"}, None),
        ({"name": "missing"}, 'configmap "missing" not found'),
        ({"name": "far"}, 'configmap "far" not found'),
        ({"name": "missing", "optional": True}, None),
        (
            {"name": "settings", "items": [{"key": "x", "path": "x"}]},
            "configmap references non-existent config key: x",
        ),
        ({"name": "settings", "items": [{"key": "x", "path": "x"}], "optional": True}, None),
    ],
)
def test_volumes_that_cannot_be_mounted_are_reported(reference: Json, why: str | None) -> None:
    expected = f'MountVolume.SetUp failed for volume "v" : {why}' if why else None
    assert unmounted(pod({"configMap": reference}), MAPS) == expected
    assert unmounted(pod({"projected": {"sources": [{"configMap": reference}]}}), MAPS) == expected


def test_a_pod_does_not_wait_for_an_unmounted_volume() -> None:
    idle = pod({"configMap": {"name": "missing"}})
    del idle["spec"]["containers"][0]["volumeMounts"]
    assert unmounted(idle, MAPS) is None
    assert unmounted({"metadata": {"namespace": "n"}, "spec": {"containers": []}}, MAPS) is None


def test_environment_variables_are_read_from_config_maps() -> None:
    reference = {"name": "settings", "key": "config.yaml"}
    container = {
        "envFrom": [{"prefix": "X_", "configMapRef": {"name": "settings"}}, {"secretRef": {}}],
        "env": [
            {"name": "A", "value": "1"},
            {"name": "NONE"},
            {"name": "B", "valueFrom": {"configMapKeyRef": reference}},
            {"name": "C", "valueFrom": {"configMapKeyRef": reference | {"key": "missing"}}},
            # Nobody here knows the values of these.
            {"name": "D", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "X_other", "value": "nearer"},
        ],
    }
    assert environment(container, "n", MAPS) == {
        "X_config.yaml": "text",
        "X_other": "nearer",
        "A": "1",
        "NONE": "",
        "B": "text",
    }
    assert environment({}, "n", MAPS) == {}
