"""What the offline plug-in does with objects, on a real API server."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from provider_kit.cancellation import Cancellation
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.values import UNKNOWN, plain_map
from rehearsal.offline_plug_ins.kubernetes.connection import connect_cluster
from rehearsal.offline_plug_ins.kubernetes.lifecycle import Lifecycle
from rehearsal.offline_plug_ins.kubernetes.objects import Object, with_metadata
from rehearsal.offline_plug_ins.kubernetes.recorded import refreshed
from tests.rehearsal.offline_plug_ins.kubernetes.control_plane import HANGING_IMAGE, ControlPlane
from tests.waiting import PATIENCE

# In this time, the cluster has made pods and says why they hang: a second, where it has nothing
# else to do.
ENOUGH = 10.0

# They need the control plane, which comes to a machine as its engine does.
pytestmark = [pytest.mark.engine, pytest.mark.long]


class Told(EngineLog):
    """An engine that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__("")
        self.statuses: list[str] = []

    async def status(self, urn: str, message: str) -> None:  # noqa: ARG002
        self.statuses.append(message)


@dataclass
class Site:
    """Runs work on the tests' cluster, to its end."""

    plane: ControlPlane
    log: Told
    arguments: Mapping[str, str] = field(default_factory=dict)

    def run(self, work: Callable[[Lifecycle], Awaitable[Any]]) -> Any:
        async def on_cluster() -> Any:
            arguments = {"kubeconfig": self.plane.kubeconfig, **self.arguments}
            cluster = await connect_cluster(arguments)
            try:
                return await work(Lifecycle("urn", cluster, self.log, Cancellation()))
            finally:
                await cluster.close()

        return asyncio.run(on_cluster())

    def create(self, asked: Object) -> Any:
        return self.run(lambda work: work.create(asked, PATIENCE))

    def update(self, new: Object, state: Object) -> Any:
        return self.run(lambda work: work.update(new, state, PATIENCE))


@pytest.fixture
def site(plane: ControlPlane) -> Site:
    return Site(plane, Told())


def config_map(name: str, **more: Any) -> Object:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}


def changed(site: Site, name: str, value: str, *options: str) -> None:
    """Somebody else changes a config map."""
    patch = json.dumps({"data": {"a": value}})
    site.plane.kubectl("patch", "configmap", name, "--type=merge", f"-p={patch}", *options)


def daemon_set(name: str, image: str = "i", namespace: str = "default", **meta: Any) -> Object:
    template = {
        "metadata": {"labels": {"name": name}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, **meta},
        "spec": {"selector": {"matchLabels": {"name": name}}, "template": template},
    }


def test_a_field_of_another_field_manager_is_a_conflict(site: Site) -> None:
    old = config_map("conflict", data={"a": "1"})
    state = site.create(old)
    new = config_map("conflict", data={"a": "3"})
    changed(site, "conflict", "2", "--field-manager=somebody")

    with pytest.raises(ProviderError, match='conflict with "somebody"') as raised:
        site.update(new, state)
    assert "server-side apply field conflict detected" in str(raised.value)
    assert state["__fieldManager"] in str(raised.value)

    forced = with_metadata(new, annotations={"pulumi.com/patchForce": "true"})
    assert site.update(forced, state)["data"] == {"a": "3"}


def test_a_field_that_kubectl_changed_is_taken_over(site: Site) -> None:
    """What kubectl has added goes too: it belongs to Pulumi then, whose inputs do not have it."""
    old = config_map("taken-over", data={"a": "1"})
    state = site.create(old)
    changed(site, "taken-over", "2")
    site.plane.kubectl(
        "patch", "configmap", "taken-over", "--type=merge", '-p={"data": {"more": "x"}}'
    )

    assert site.run(lambda work: work.preview_update(old, state))["data"]["a"] == "1"
    assert site.update(old, state)["data"] == {"a": "1"}


@pytest.mark.nightly
def test_once_pulumi_has_updated_an_object_kubectls_changes_make_every_preview_fail(
    site: Site,
) -> None:
    """The real pulumi-kubernetes takes fields over in updates only, and forces previews only of
    what it has created and not updated yet. Rehearsals passed, and failed on Azure.
    """
    state = site.create(config_map("updated", data={"a": "1"}))
    new = config_map("updated", data={"a": "2"})
    site.update(new, state)
    changed(site, "updated", "3")

    with pytest.raises(ProviderError, match='conflict with "kubectl-patch"'):
        site.run(lambda work: work.preview_update(new, state))
    assert site.update(new, state)["data"] == {"a": "2"}


@pytest.mark.nightly
def test_a_provider_that_patches_by_force_previews_what_others_have_changed(site: Site) -> None:
    state = site.create(config_map("by-force", data={"a": "1"}))
    new = config_map("by-force", data={"a": "2"})
    site.update(new, state)
    changed(site, "by-force", "3", "--field-manager=somebody")
    by_force = replace(site, arguments={"enablePatchForce": "true"})

    assert by_force.run(lambda work: work.preview_update(new, state))["data"] == {"a": "2"}
    assert by_force.update(new, state)["data"] == {"a": "2"}


@pytest.mark.nightly
def test_removed_fields_are_deleted(site: Site) -> None:
    old = config_map("gone", data={"a": "1", "b": "2"})
    state = site.create(old)

    assert site.update(config_map("gone", data={"a": "1"}), state)["data"] == {"a": "1"}


def test_an_object_waits_for_a_namespace_that_is_created_later(site: Site) -> None:
    asked = with_metadata(config_map("early"), namespace="later-made")

    async def refused_at_first(work: Lifecycle) -> Any:
        async def make_it(_: float) -> None:
            namespace = {"apiVersion": "v1", "kind": "Namespace"}
            await work.cluster.create(namespace | {"metadata": {"name": "later-made"}}, make_it)

        return await work.cluster.create(asked, make_it)

    assert site.run(refused_at_first)["metadata"]["namespace"] == "later-made"


@pytest.mark.nightly
def test_a_preview_shows_the_servers_defaults(site: Site) -> None:
    planned = site.run(lambda work: work.preview_creation(daemon_set("planned")))

    assert planned["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    assert "status" not in planned
    assert not site.plane.has("daemonset", "planned")


def test_a_preview_refuses_what_the_server_would_refuse(site: Site) -> None:
    asked = daemon_set("planned")
    asked["spec"]["selector"] = {"matchLabels": {"name": "other"}}

    with pytest.raises(ProviderError, match="`selector` does not match template `labels`"):
        site.run(lambda work: work.preview_creation(asked))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "asked",
    [
        config_map("planned", data={"a": UNKNOWN}),
        with_metadata(config_map("planned"), namespace="not-yet"),
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}},
    ],
    ids=["unknown value", "namespace to come", "kind to come"],
)
def test_a_preview_without_the_server_shows_the_inputs(site: Site, asked: Object) -> None:
    assert site.run(lambda work: work.preview_creation(asked)) == asked


def test_the_preview_of_an_update_changes_nothing(site: Site) -> None:
    old = config_map("previewed", data={"a": "1"})
    state = site.create(old)

    new = config_map("previewed", data={"a": "2"})
    planned = site.run(lambda work: work.preview_update(new, state))
    assert planned["data"] == {"a": "2"}
    assert site.plane.get("configmap", "previewed")["data"] == {"a": "1"}


def test_a_rollout_that_takes_too_long_stays_in_the_state(site: Site) -> None:
    asked = daemon_set("slow", HANGING_IMAGE)

    with pytest.raises(ResourceInitError) as raised:
        site.run(lambda work: work.create(asked, ENOUGH))

    # kstatus judges a DaemonSet in the original, whose words at the end of the time these are.
    assert "timed out waiting for the condition" in str(raised.value)
    assert "[ImagePullBackOff] Back-off pulling image" in "\n".join(raised.value.details)
    assert raised.value.resource_id == "default/slow"
    assert plain_map(raised.value.properties)["status"]["desiredNumberScheduled"] == 1
    assert any(status.startswith("Ready: 0/1") for status in site.log.statuses)


def test_a_refresh_reports_an_unready_object_and_keeps_its_inputs(site: Site) -> None:
    """The original's Read judges readiness too: the state then has the reason of the failure."""
    asked = daemon_set("unready", HANGING_IMAGE)
    with pytest.raises(ResourceInitError) as created:
        site.run(lambda work: work.create(asked, ENOUGH))
    state = plain_map(created.value.properties)

    async def refresh(work: Lifecycle) -> None:
        live = await work.read(asked, state)
        assert live is not None
        await work.require_ready(asked, live, refreshed(asked, live))

    with pytest.raises(
        ResourceInitError, match="'unready' was created but failed to ini"
    ) as raised:
        site.run(refresh)

    assert "[ImagePullBackOff] Back-off pulling image" in "\n".join(raised.value.details)
    assert plain_map(raised.value.inputs or {}) == asked


@pytest.mark.nightly
def test_events_that_prevent_pods_are_reported(site: Site) -> None:
    site.plane.kubectl("create", "namespace", "full")
    site.plane.kubectl("create", "quota", "none", "--hard=pods=0", "--namespace=full")
    asked = daemon_set("refused", namespace="full")

    with pytest.raises(ResourceInitError) as raised:
        site.run(lambda work: work.create(asked, ENOUGH))
    told = "\n".join(raised.value.details)
    assert "[FailedCreate]" in told
    assert "exceeded quota: none" in told


def test_a_deletion_waits_for_pods_and_reports_progress(site: Site) -> None:
    state = site.create(daemon_set("deleted"))
    site.run(lambda work: work.delete(state, PATIENCE))

    assert not site.plane.has("daemonset", "deleted")
    assert not site.plane.has("pods", "-l", "name=deleted")
    # What is gone already is deleted without a word.
    site.run(lambda work: work.delete(state, PATIENCE))


@pytest.mark.nightly
def test_a_deletion_that_times_out_names_the_finalizer(site: Site) -> None:
    state = site.create(with_metadata(config_map("held"), finalizers=["example.com/held"]))

    with pytest.raises(ProviderError, match=r"to be deleted; .*\(example.com/held\)"):
        site.run(lambda work: work.delete(state, ENOUGH))
    assert 'ConfigMap "held" still exists' in site.log.statuses


def test_a_secret_keeps_the_programs_string_data(site: Site) -> None:
    asked = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "default"},
        "stringData": {"password": "a"},
        "type": "Opaque",
    }
    live = site.create(asked)
    assert refreshed(asked, live) == asked

    site.plane.kubectl("patch", "secret", "s", "--type=merge", '-p={"data": {"password": "Yg=="}}')
    live = site.run(lambda work: work.read(asked, live))
    assert refreshed(asked, live)["stringData"] == {"password": "b"}


@pytest.mark.nightly
def test_a_loopback_address_never_uses_a_proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert site.create(config_map("direct"))["metadata"]["name"] == "direct"
