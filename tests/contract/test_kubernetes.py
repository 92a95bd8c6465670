"""The contract of kubernetes: the plug-in, offline or real, does what its table says."""

import base64
import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from cryptography.hazmat.primitives.serialization import Encoding

from rehearsal.certificates import Authority
from tests.contract.plugins import Change, Plugin, Running, running
from tests.rehearsal.offline_plug_ins.kubernetes import control_plane
from tests.rehearsal.offline_plug_ins.kubernetes.control_plane import ControlPlane

pytestmark = pytest.mark.engine

TABLE = yaml.safe_load(Path(__file__).with_name("kubernetes.yaml").read_text())
Values = dict[str, Any]
# Nobody listens there: what a change of inputs means, a plug-in knows without a cluster.
UNREACHABLE = "https://127.0.0.1:1"
# The plug-in opens its client when it is configured, and needs a real certificate for that.
AUTHORITY = base64.b64encode(
    Authority.create("contract").certificate.public_bytes(Encoding.PEM)
).decode()


def cases(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in TABLE[kind]]


def changed(values: Values, changes: Mapping[str, Any]) -> Values:
    """The values with others at some paths; None takes away what is there."""
    result = copy.deepcopy(values)
    for path, value in changes.items():
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        inner: Any = result
        for part in parents:
            inner = inner[part]
        if value is None:
            del inner[last]
        else:
            inner[last] = value
    return result


def token(values: Values) -> str:
    """The type of a resource, as the engine has it."""
    group, _, version = values["apiVersion"].rpartition("/")
    return f"kubernetes:{group or 'core'}/{version}:{values['kind']}"


def state(values: Values, live: Values | None = None) -> Values:
    """What the engine's state has of an object that was made from these inputs."""
    ours = {"__initialApiVersion": values["apiVersion"], "__fieldManager": "pulumi-kubernetes-0"}
    return (live or values) | ours | {"__inputs": values}


def outcome(change: Change) -> str:
    """The word that the table has for new arguments of a provider."""
    if not change.is_change:
        return "same"
    return "replace" if change.replaces else "update"


def kubeconfig(server: str, ca: str = AUTHORITY, **_: Any) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [
                {"name": "c", "cluster": {"server": server, "certificate-authority-data": ca}}
            ],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
    )


def plugin(config: str) -> Plugin:
    return Plugin(
        "kubernetes", "tools/rehearsal/offline_plug_ins/kubernetes", {"kubeconfig": config}
    )


@pytest.fixture(scope="module")
def kubernetes(plugin_folder: Path | None) -> Iterator[Running]:
    """The plug-in, with a cluster that does not answer."""
    with running(plugin(kubeconfig(UNREACHABLE)), plugin_folder, {}) as running_plugin:
        yield running_plugin


def test_a_certificate_authority_that_is_none_fails_the_whole_plug_in(
    plugin_folder: Path | None,
) -> None:
    with (
        pytest.raises(grpc.RpcError, match="failed to initialize discovery client"),
        running(plugin(kubeconfig(UNREACHABLE, ca="b25l")), plugin_folder, {}),
    ):
        pass


@pytest.mark.parametrize("case", cases("diffs"))
def test_diff_answers_as_in_the_table(case: Values, kubernetes: Running) -> None:
    old = TABLE["objects"][case["of"]]
    new, live = changed(old, case["set"]), changed(old, case.get("live", {}))

    change = kubernetes.diff(token(old), old, state(old, live), new)

    assert change.kinds == case["differs"]
    assert change.is_change == bool(case["differs"])
    assert change.replaces == {
        path for path, kind in case["differs"].items() if kind.endswith("_REPLACE")
    }
    assert change.deletes_first == case.get("first", False)


@pytest.mark.parametrize("case", cases("checks"))
def test_check_answers_as_in_the_table(case: Values, kubernetes: Running) -> None:
    values = changed(TABLE["objects"][case["of"]], case["set"])

    with pytest.raises(grpc.RpcError, match=case["refuses"]):
        kubernetes.refusals(token(values), values)


@pytest.mark.parametrize("case", cases("providers"))
def test_diff_config_answers_as_in_the_table(case: Values, kubernetes: Running) -> None:
    old, new = (
        {"kubeconfig": kubeconfig(**case[side])}
        | {key: value for key, value in case[side].items() if key == "clusterIdentifier"}
        for side in ("old", "new")
    )

    assert outcome(kubernetes.diff_config("kubernetes", old, new)) == case["is"]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster without a node, so that no DaemonSet there has to wait for pods."""
    with control_plane.running(
        tmp_path_factory.mktemp("contract-cluster")
    ) as control_plane_of_test:
        control_plane_of_test.kubectl("create", "namespace", "gpu-resources")
        yield control_plane_of_test


@pytest.fixture(scope="module")
def on_cluster(plugin_folder: Path | None, plane: ControlPlane) -> Iterator[Running]:
    with running(plugin(plane.kubeconfig), plugin_folder, {}) as running_plugin:
        yield running_plugin


@pytest.mark.long
@pytest.mark.parametrize("case", cases("reads"))
def test_read_answers_as_in_the_table(
    case: Values, on_cluster: Running, plane: ControlPlane
) -> None:
    inputs = TABLE["objects"][case["of"]]
    named = {key: inputs["metadata"][key] for key in ("name", "namespace")}
    if not case.get("gone"):
        live = json.dumps(changed(inputs, case["live"]))
        plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=live)
        if inputs["kind"] == "DaemonSet":
            # Until its controller has seen it, it is not ready.
            plane.kubectl("rollout", "status", f"ds/{named['name']}", "-n", named["namespace"])
    try:
        resource_id = f"{named['namespace']}/{named['name']}"
        answer = on_cluster.read(token(inputs), resource_id, inputs, state(inputs))
    finally:
        plane.kubectl(
            "delete", inputs["kind"], named["name"], "-n", named["namespace"], "--ignore-not-found"
        )

    assert answer.id == ("" if case.get("gone") else resource_id)
    if not case.get("gone"):
        assert answer.inputs == changed(inputs, case["finds"])
