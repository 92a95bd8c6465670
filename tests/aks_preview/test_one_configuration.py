"""azure-native and aks-preview work in one place: what says where, for both."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import config as runtime_config

from aks_preview.configuration import PACKAGE, PLACE, SETTINGS, contradictions
from components import GpuNodePool, GpuNodePoolArgs
from provider_kit.configuration import Configuration
from tests.bench import Bench
from tests.conftest import Deploy, Graph
from tests.faults import Faults
from tests.test_stacks_on_engine import POOL, stack

SAID = (None, "a", "b")


def azure_cli(folder: Path, subscription: str | None) -> str:
    """A PATH with an Azure CLI that is signed in, or is not."""
    folder.mkdir()
    program = folder / "az"
    account = {"id": subscription, "environmentName": "AzureChinaCloud"}
    command = f"echo '{json.dumps(account)}'" if subscription else "exit 1"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return str(folder)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, str]:
    folder = tmp_path_factory.mktemp("clis")
    return {
        subscription: azure_cli(folder / str(subscription), subscription) for subscription in SAID
    }


def named(subscription: str | None) -> dict[str, str]:
    return {"subscriptionId": subscription} if subscription else {}


@pytest.mark.parametrize(
    ("native", "own", "variable", "cli"), [*itertools.product(SAID, SAID, SAID, SAID)]
)
def test_both_providers_use_one_subscription_or_the_program_stops(
    native: str | None,
    own: str | None,
    variable: str | None,
    cli: str | None,
    paths: dict[str | None, str],
) -> None:
    """With azure-native:subscriptionId and ARM_SUBSCRIPTION_ID one program spoke to two."""
    environment = {"PATH": paths[cli]} | ({"ARM_SUBSCRIPTION_ID": variable} if variable else {})
    azure_native = native or variable or cli or ""
    if list(contradictions(named(native), named(own), environment)):
        assert own not in (None, native or variable)
        return
    handed = {**named(native), **named(own)}
    ours = Configuration(handed, PACKAGE, SETTINGS, environment).text("subscriptionId")
    # Where azure-native has only the Azure CLI's word, a program cannot see it.
    assert ours == (own or azure_native)
    assert ours == azure_native or not (native or variable)


@pytest.mark.parametrize("name", PLACE)
def test_settings_of_subscription_tenant_and_cloud_are_compared(name: str) -> None:
    assert not list(contradictions({name: "A"}, {name: "a"}, {}))
    (contradiction,) = contradictions({name: "a"}, {name: "b"}, {})
    assert contradiction.path == f"aks-preview:{name}"
    variable = SETTINGS[name].variables[0]
    (contradiction,) = contradictions({}, {name: "b"}, {variable: "a"})
    assert variable in contradiction.reason


@pytest.mark.parametrize(
    ("native", "environment", "reason"),
    [
        ({"clientSecret": "s"}, {}, "the default of azure-native:environment is public"),
        ({}, {"ARM_USE_OIDC": "true"}, "the default of azure-native:environment is public"),
        ({}, {"AZURE_ENVIRONMENT": "china"}, "AZURE_ENVIRONMENT is china"),
        # The cloud is that of the Azure CLI's account.
        ({}, {}, None),
        ({}, {"ARM_USE_OIDC": "false"}, None),
    ],
)
def test_azure_natives_default_cloud_is_compared(
    native: dict[str, str], environment: dict[str, str], reason: str | None
) -> None:
    """`aks-preview:environment` alone led to a government's cloud, and azure-native elsewhere."""
    reported = list(contradictions(native, {"environment": "usgovernment"}, environment))
    assert [reason in each.reason for each in reported if reason] == [True] * len(reported)
    assert bool(reported) is bool(reason)
    assert not list(contradictions(native, {"environment": "Public"}, {}))


def test_variables_that_azure_native_ignores_cause_no_contradiction() -> None:
    own = {"subscriptionId": "b"}
    assert not list(contradictions({}, own, {"AZURE_SUBSCRIPTION_ID": "a"}))


def test_the_azure_cli_provides_the_subscription_only_if_it_signs_in(tmp_path: Path) -> None:
    environment = {"PATH": azure_cli(tmp_path / "cli", "of-the-cli")}

    def text(name: str, **given: Any) -> str:
        return Configuration(given, PACKAGE, SETTINGS, environment).text(name)

    assert (text("subscriptionId"), text("environment")) == ("of-the-cli", "china")
    assert text("environment", environment="public") == "public"
    for other in ({"useMsi": "true"}, {"useOidc": "true"}, {"clientSecret": "s"}):
        assert (text("subscriptionId", **other), text("environment", **other)) == ("", "public")
    assert Configuration({}, PACKAGE, SETTINGS, {}).text("subscriptionId") == ""


@pytest.fixture
def configured() -> Iterator[Any]:
    """Sets a program's configuration."""
    before = dict(runtime_config.CONFIG.get())
    yield lambda config, secret=(): runtime_config.set_all_config(config, list(secret))
    runtime_config.set_all_config(before, [])


def program() -> None:
    for name in ("one", "two"):
        args = GpuNodePoolArgs(
            resource_group_name="g",
            cluster_name="c",
            pool_name=name,
            vm_size="Standard_NC8as_T4_v3",
            custom_headers={"EnableACRTeleport": "true"},
        )
        GpuNodePool(name, args)


def providers_of_pools(graph: Graph) -> set[str]:
    return {pool.options.provider for pool in graph.all("AgentPool")}


def test_azure_natives_configuration_is_handed_over(deploy: Deploy, configured: Any) -> None:
    """`pulumi config set azure-native:subscriptionId` was nothing to aks-preview."""
    configured({"azure-native:subscriptionId": "a", "aks-preview:apiVersion": "v", "x:y": "z"})
    graph = deploy(program)

    provider = graph.only("aks-preview")
    assert provider.inputs == {"subscriptionId": "a", "apiVersion": "v"}
    (used,) = providers_of_pools(graph)
    assert "aks-preview-as-azure-native" in used


def test_secrets_of_both_configurations_stay_secret(
    deploy: Deploy, configured: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenant that was set with --secret stood in clear in the state, as the provider's input."""
    sealed: list[Any] = []
    secret = pulumi.Output.secret

    def seal(value: Any) -> pulumi.Output[Any]:
        sealed.append(value)
        return secret(value)

    monkeypatch.setattr(pulumi.Output, "secret", seal)
    settings = {"azure-native:tenantId": "t", "azure-native:clientSecret": "s"}
    settings |= {"azure-native:clientId": "c", "aks-preview:subscriptionId": "i"}
    configured(settings, ["azure-native:tenantId", "aks-preview:subscriptionId"])
    deploy(program)
    assert set(sealed) == {"t", "s", "i"}

    (contradiction,) = contradictions({"tenantId": "a"}, {"tenantId": "b"}, {}, secret={"tenantId"})
    assert contradiction.reason.startswith("differs from azure-native:tenantId")


def test_without_configuration_pools_use_the_default_provider(
    deploy: Deploy, configured: Any
) -> None:
    configured({"aks-preview:subscriptionId": "a"})
    graph = deploy(program)

    assert not graph.all("aks-preview")
    assert providers_of_pools(graph) == {""}


def test_a_contradiction_stops_the_program(
    deploy: Deploy, configured: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID", raising=False)
    configured({"azure-native:subscriptionId": "a", "aks-preview:subscriptionId": "b"})
    with pytest.raises(pulumi.RunError, match="aks-preview:subscriptionId: is b, and azure-native"):
        deploy(program)


@pytest.mark.engine
@pytest.mark.nightly
def test_a_pool_uses_the_configuration_of_azure_native(bench: Bench, faults: Faults) -> None:
    """Its provider is another one then; the pool stays."""
    answer = {"kubeconfigs": [{"name": "clusterUser", "value": "YQ=="}]}
    faults.script(
        {"method": "POST", "path": "listClusterUserCredential", "status": 200, "body": answer}
    )
    pool = POOL | {"customHeaders": {"EnableACRTeleport": "true"}}
    bench.write_stack(stack("one-place", pool))
    bench.pulumi("up", "--yes", "--skip-preview")

    subscription = bench.cloud.subscription
    bench.pulumi("config", "set", "azure-native:subscriptionId", subscription)
    changes = bench.changes()
    assert changes.pop("aks-preview-as-azure-native") == "create"
    assert set(changes.values()) <= {"update"}
    assert "gpu" not in changes
    bench.pulumi("up", "--yes", "--skip-preview")
    assert bench.changes() == {}

    bench.pulumi("config", "set", "aks-preview:subscriptionId", "elsewhere")
    output = bench.pulumi("preview", fails=True)
    assert "aks-preview:subscriptionId: is elsewhere, and azure-native:subscriptionId is" in output
    bench.pulumi("config", "rm", "aks-preview:subscriptionId")
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
