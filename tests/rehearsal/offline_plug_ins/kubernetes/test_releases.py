"""How Helm is run: what an update that is cancelled does to it."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from pulumi.provider.experimental import provider as sdk

from provider_kit.cancellation import Cancellation, CancelledUpdateError
from provider_kit.engine_log import EngineLog
from provider_kit.serving import ProviderError, ResourceInitError
from provider_kit.values import plain_map, property_map
from rehearsal.offline_plug_ins import kubernetes
from rehearsal.offline_plug_ins.kubernetes.connection import Connection
from rehearsal.offline_plug_ins.kubernetes.helm import Helm
from rehearsal.offline_plug_ins.kubernetes.releases import Releases
from rehearsal.offline_plug_ins.launch import HELM_VARIABLE
from tests.waiting import PATIENCE, until

URN = "urn:pulumi:s::p::kubernetes:helm.sh/v3:Release::r"
CHART = Path(kubernetes.__file__).with_name("charts") / "gpu-operator"
STATUS = (
    '{"name": "r", "namespace": "ns", "version": 1, "manifest": "", "config": {}, '
    '"info": {"status": "failed"}}'
)
# A Helm that waits for its resources until there is the file `over`. Where it listens, a signal
# ends it with its reason, as Helm's installs and upgrades end.
HELM = f"""#!/bin/sh
cd "$(dirname "$0")"
wait_for_resources() {{ touch waits; until [ -e over ]; do sleep 0.05; done; echo "$3" >>ended; }}
case "$3" in
    status) echo '{STATUS}' ;;
    get) echo '{{"chart": "c", "version": "1.2.3"}}' ;;
    uninstall) wait_for_resources "$@" ;;
    *)
        [ -e deaf ] || trap 'echo "Error: $3 FAILED: context canceled" >&2; exit 1' TERM
        wait_for_resources "$@"
        ;;
esac
"""


@dataclass
class Played:
    """The offline plug-in's releases, with a played Helm in a folder."""

    folder: Path

    def inputs(self) -> dict[str, Any]:
        given = property_map({"chart": str(CHART), "name": "r", "namespace": "ns"})
        releases = Releases(Connection(EngineLog(None)), EngineLog(None), Cancellation())
        return dict(releases.check(sdk.CheckRequest(URN, {}, given, b"")).inputs or {})

    async def cancelled(self, verb: str) -> Any:
        """Cancels an operation that waits; its result."""
        cancellation, connection = Cancellation(), Connection(EngineLog(None))
        connection.cluster = cast(Any, object())
        releases, inputs = Releases(connection, EngineLog(None), cancellation), self.inputs()
        operation: Awaitable[Any] = {
            "install": lambda: releases.create(sdk.CreateRequest(URN, inputs, 0, False)),
            "upgrade": lambda: releases.update(
                sdk.UpdateRequest(URN, "ns/r", inputs, inputs, 0, [], False)
            ),
            "uninstall": lambda: releases.delete(sdk.DeleteRequest(URN, "ns/r", inputs, 0)),
        }[verb]()
        running = asyncio.ensure_future(operation)
        await asyncio.to_thread(until, (self.folder / "waits").exists, "Helm waits")
        cancellation.ask()
        if verb == "uninstall":
            (self.folder / "over").touch()
        return await asyncio.wait_for(running, PATIENCE)

    @property
    def has_ended(self) -> bool:
        """Whether Helm did what it was told to its end."""
        return (self.folder / "ended").exists()


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    helm = tmp_path / "helm"
    helm.write_text(HELM)
    helm.chmod(0o755)
    monkeypatch.setenv(HELM_VARIABLE, str(helm))
    yield Played(tmp_path)
    (tmp_path / "over").touch()


@pytest.mark.parametrize("verb", ["install", "upgrade"])
def test_a_cancelled_update_interrupts_helm_and_keeps_the_release(
    verb: str, played: Played
) -> None:
    """Only an uninstall was interrupted: a Ctrl-C during an install waited for its time limit."""
    with pytest.raises(ResourceInitError, match="context canceled") as raised:
        asyncio.run(played.cancelled(verb))
    assert plain_map(raised.value.properties)["status"]["status"] == "failed"
    assert not played.has_ended


def test_helm_that_a_cancelled_update_ends_before_it_has_begun_made_nothing(
    played: Played,
) -> None:
    """Killed by the signal, Helm says nothing: an error with its words would have none."""
    (played.folder / "deaf").touch()
    with pytest.raises(CancelledUpdateError, match="was cancelled"):
        asyncio.run(played.cancelled("install"))


def test_a_cancelled_update_lets_an_uninstall_end(played: Played) -> None:
    """It was killed halfway. The real provider cannot interrupt one either."""
    asyncio.run(played.cancelled("uninstall"))
    assert played.has_ended


def test_a_release_of_an_unreachable_cluster_is_never_deleted(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a refresh forgets a release: the real plug-in refuses before it asks for the option."""
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    releases = Releases(Connection(EngineLog(None)), EngineLog(None), Cancellation())
    request = sdk.DeleteRequest(URN, "ns/r", played.inputs(), 0)
    with pytest.raises(ProviderError, match="can't delete Helm Release with unreachable cluster"):
        asyncio.run(releases.delete(request))


def test_a_missing_helm_names_the_command_that_gets_one(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It advised to set the variable, which every command of a rehearsal overwrites.

    And a helm on PATH was taken, whatever its version, that the rehearsal had found unusable.
    """
    monkeypatch.setenv("PATH", str(played.folder))
    monkeypatch.setenv(HELM_VARIABLE, str(played.folder / "none"))
    with pytest.raises(ProviderError, match=r"`\.venv/bin/python -m machine_setup helm`") as raised:
        asyncio.run(Helm("", Cancellation()).run("version"))
    assert HELM_VARIABLE not in str(raised.value)
    monkeypatch.delenv(HELM_VARIABLE)
    with pytest.raises(ProviderError, match="-m machine_setup helm"):
        asyncio.run(Helm("", Cancellation()).run("version"))


def test_helm_takes_no_options_from_the_users_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HELM_KUBEAPISERVER, the rehearsal's Helm spoke to the user's own cluster."""
    helm = tmp_path / "helm"
    helm.write_text("#!/bin/sh\n/usr/bin/env\n")
    helm.chmod(0o755)
    monkeypatch.setenv(HELM_VARIABLE, str(helm))
    for name in ("KUBEAPISERVER", "KUBECONTEXT", "KUBETOKEN", "NAMESPACE", "DRIVER"):
        monkeypatch.setenv(f"HELM_{name}", "of the user")
    told = asyncio.run(Helm("", Cancellation()).run("list"))
    assert "PATH=" in told
    assert "of the user" not in told
