"""azure-native and aks-preview work in one place: one configuration says where, for both."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime import config as runtime_config

from aks_preview.configuration import PACKAGE, SETTINGS
from components import GpuNodePool, GpuNodePoolArgs
from provider_kit.configuration import Configuration
from tests.aks_preview.odd.azure import OddAzure
from tests.aks_preview.odd.driver import Driver, Outcome, outcome_of, secret
from tests.bench import Bench
from tests.conftest import Deploy
from tests.faults import Faults
from tests.test_stacks_on_engine import POOL, stack


def test_the_azure_cli_provides_the_subscription_only_if_it_signs_in(tmp_path: Path) -> None:
    account = {"id": "of-the-cli", "environmentName": "AzureChinaCloud"}
    program = tmp_path / "az"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(account)}'\n")
    program.chmod(0o755)

    def place(path: Path = tmp_path, /, **given: str) -> tuple[str, str]:
        configuration = Configuration(given, PACKAGE, SETTINGS, {"PATH": str(path)})
        return configuration.text("subscriptionId"), configuration.text("environment")

    assert place() == ("of-the-cli", "china")
    assert place(subscriptionId="mine", environment="public") == ("mine", "public")
    for other in ({"useMsi": "true"}, {"useOidc": "true"}, {"clientSecret": "s"}):
        assert place(**other) == ("", "public")
    assert place(Path("/nowhere")) == ("", "public")


def test_another_setting_changes_the_provider_and_another_version_does_not() -> None:
    async def changes(provider: Driver) -> Outcome:
        old, kind = {"subscriptionId": "a", "version": "1"}, f"pulumi:providers:{PACKAGE}"
        for name, changed in (("version", []), ("subscriptionId", ["subscriptionId"])):
            answer = await provider.diff("id", old, old, old | {name: "b"}, kind=kind)
            assert (answer.diffs, answer.replaces) == (changed, [])
        return Outcome()

    outcome_of(OddAzure(), changes)


@pytest.fixture
def configured() -> Iterator[Any]:
    """Sets a program's configuration."""
    before = dict(runtime_config.CONFIG.get())
    yield lambda config, secret=(): runtime_config.set_all_config(config, list(secret))
    runtime_config.set_all_config(before, [])


def program() -> None:
    for name in ("one", "two"):
        place: Any = {"resource_group_name": "g", "cluster_name": "c", "pool_name": name}
        headers = {"EnableACRTeleport": "true"}
        size = "Standard_NC8as_T4_v3"
        GpuNodePool(name, GpuNodePoolArgs(**place, vm_size=size, custom_headers=headers))


def test_azure_natives_configuration_is_handed_over_and_wins(
    deploy: Deploy, configured: Any
) -> None:
    """`pulumi config set azure-native:subscriptionId` was nothing to aks-preview.

    A tenant that was set with --secret stood in clear in the state, as the provider's input.
    """
    native = {"subscriptionId": "a", "tenantId": "t", "clientSecret": "s"}
    settings = {f"azure-native:{name}": value for name, value in native.items()}
    settings |= {"aks-preview:subscriptionId": "b", "aks-preview:apiVersion": "v", "x:y": "z"}
    configured(settings, ["azure-native:tenantId"])
    graph = deploy(program)

    hidden = {"tenantId": secret("t"), "clientSecret": secret("s")}
    assert graph.only("aks-preview").inputs == {"subscriptionId": "a", "apiVersion": "v", **hidden}
    (used,) = {pool.options.provider for pool in graph.all("AgentPool")}
    assert "aks-preview-as-azure-native" in used


def test_without_it_pools_use_the_default_provider(deploy: Deploy, configured: Any) -> None:
    configured({"aks-preview:subscriptionId": "a"})
    graph = deploy(program)

    assert not graph.all("aks-preview")
    assert {pool.options.provider for pool in graph.all("AgentPool")} == {""}


@pytest.mark.engine
@pytest.mark.nightly
def test_a_pool_uses_the_configuration_of_azure_native(bench: Bench, faults: Faults) -> None:
    """Its provider is another one then; the pool stays."""
    answer = {"status": 200, "body": {"kubeconfigs": [{"name": "clusterUser", "value": "YQ=="}]}}
    faults.script({"method": "POST", "path": "listClusterUserCredential", **answer})
    bench.write_stack(stack("one-place", POOL | {"customHeaders": {"EnableACRTeleport": "true"}}))
    bench.pulumi("up", "--yes", "--skip-preview")

    bench.pulumi("config", "set", "azure-native:subscriptionId", bench.cloud.subscription)
    changes = bench.changes()
    assert changes.pop("aks-preview-as-azure-native") == "create"
    assert set(changes.values()) <= {"update"}
    assert "gpu" not in changes
    bench.pulumi("up", "--yes", "--skip-preview")
    bench.pulumi("config", "set", "aks-preview:subscriptionId", "elsewhere")
    assert bench.changes() == {}
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
