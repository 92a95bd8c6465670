"""aks-preview as programs and people use it: through the real engine, over HTTP."""

import json

import pytest

from rehearsal.cloud import Cloud
from tests.aks_preview.conftest import Aks, PreviewBench
from tests.bench import ROOT
from tests.rehearsal.conftest import Azure

pytestmark = pytest.mark.engine

HEADERS = {"EnableACRTeleport": "false", "AKSHTTPCustomFeatures": "Microsoft.ContainerService/A"}


def test_a_pool_is_created_updated_and_deleted(preview_bench: PreviewBench, aks: Aks) -> None:
    preview_bench.up(aks.program(headers=HEADERS))

    created = preview_bench.resources()["pool"]
    assert created["id"].endswith("/managedClusters/c/agentPools/gpu")
    assert created["outputs"]["provisioningState"] == "Succeeded"
    put = preview_bench.requests("PUT", f"{aks.group}/providers")[-1]
    assert put["headers"].items() >= HEADERS.items()
    assert preview_bench.changes("--refresh") == {}

    preview_bench.up(aks.program(headers=HEADERS, count=2))
    assert preview_bench.resources()["pool"]["outputs"]["count"] == 2
    assert preview_bench.requests("PUT", aks.group)[-1]["headers"].items() >= HEADERS.items()

    preview_bench.pulumi("destroy", "--yes", "--skip-preview")
    assert preview_bench.resources() == {}
    assert aks.pool() is None


@pytest.mark.nightly
def test_all_mistakes_are_reported_at_once_before_any_request(
    preview_bench: PreviewBench, aks: Aks
) -> None:
    preview_bench.write(
        aks.program(
            headers={"Authorization": "Bearer of-secrets", "no token": "a", "X": "\n"},
            count="three",
            gpu_profile={"driver": "Install", "colour": "red"},
        )
    )

    output = preview_bench.pulumi("preview", fails=True)

    for mistake in (
        "customHeaders.Authorization",
        "is set by the HTTP client",
        "is not a valid header name",
        "must be printable text on one line",
        "is a string, but must be an integer",
        "is not a property of GPUProfile",
    ):
        assert mistake in output
    second = aks.program(name="GPU").splitlines()[3].replace("'pool'", "'second'")
    preview_bench.write(f"{aks.program()}{second}\n")
    output = preview_bench.pulumi("preview", fails=True)
    assert "Remove one of the two from the program" in output
    assert not preview_bench.requests("PUT", f"{aks.path}/agentPools")


@pytest.mark.long
def test_a_replacement_is_previewed_as_a_replacement(preview_bench: PreviewBench, aks: Aks) -> None:
    more = ", replace_on_header_change=True"
    preview_bench.up(aks.program(headers=HEADERS, more=more))
    old = aks.pool()

    changed = aks.program(headers=HEADERS | {"EnableACRTeleport": "true"}, more=more)
    preview_bench.write(changed)
    assert "replace" in preview_bench.changes()["pool"]
    preview_bench.up(changed)

    put = preview_bench.requests("PUT", f"{aks.path}/agentPools")[-1]
    assert put["headers"]["EnableACRTeleport"] == "true"
    new = aks.pool()
    assert old is not None
    assert new is not None
    assert old["properties"]["eTag"] != new["properties"]["eTag"]
    assert len(preview_bench.requests("DELETE", f"{aks.path}/agentPools")) == 1
    assert preview_bench.changes() == {}


@pytest.mark.long
def test_drift_is_found_and_headers_are_kept(preview_bench: PreviewBench, aks: Aks) -> None:
    labels = {"team": "a"}
    preview_bench.up(aks.program(headers=HEADERS, node_labels=labels))
    pool = aks.pool()
    assert pool is not None
    aks.put_pool("gpu", **pool["properties"] | {"count": 3, "nodeLabels": labels | {"b": "c"}})

    assert preview_bench.changes() == {}
    preview_bench.pulumi("refresh", "--yes", "--skip-preview")

    inputs = preview_bench.resources()["pool"]["inputs"]
    assert inputs["count"] == 3
    assert inputs["nodeLabels"] == labels | {"b": "c"}
    assert inputs["customHeaders"] == HEADERS
    assert preview_bench.changes() == {"pool": "update"}


@pytest.mark.long
def test_a_pool_created_with_raw_http_is_imported(preview_bench: PreviewBench, aks: Aks) -> None:
    aks.put_pool("gpu", vmSize="Standard_NC8as_T4_v3", count=1, nodeTaints=["sku=gpu:NoSchedule"])
    program = aks.program(headers=HEADERS, node_taints=["sku=gpu:NoSchedule"])
    resource_id = f"{aks.azure.subscription}{aks.path}/agentPools/gpu"
    output = preview_bench.up(program, fails=True)
    command = f"pulumi import aks-preview:containerservice:AgentPool pool {resource_id}"
    assert f"`{command}`" in output

    preview_bench.pulumi(*command.split()[1:], "--yes", "--generate-code=false", "--protect=false")

    assert preview_bench.changes() == {}
    assert preview_bench.changes("--refresh") == {}


@pytest.mark.long
def test_a_cluster_is_created_updated_and_deleted(preview_bench: PreviewBench, aks: Aks) -> None:
    program = (
        "from pulumi_azure_native import containerservice as aks\n"
        "from aks_preview.resources import ManagedCluster\n"
        "cluster = ManagedCluster('cluster', aks.ManagedClusterArgs("
        f"resource_group_name={aks.group!r}, resource_name='own', location='East US',"
        " dns_prefix='own', identity=aks.ManagedClusterIdentityArgs(type='SystemAssigned'),"
        " agent_pool_profiles=[aks.ManagedClusterAgentPoolProfileArgs(name='system',"
        " mode='System', vm_size='Standard_D4ds_v5', count=COUNT)]),"
        f" custom_headers={HEADERS!r})\n"
        "import pulumi\n"
        "pulumi.export('fqdn', cluster.fqdn)\n"
    )
    preview_bench.up(program.replace("COUNT", "1"))
    put = preview_bench.requests("PUT", f"{aks.group}/providers")[-1]
    assert put["path"].endswith("/managedClusters/own")
    assert put["headers"].items() >= HEADERS.items()
    assert preview_bench.pulumi("stack", "output", "fqdn").startswith("own-")
    assert preview_bench.changes("--refresh") == {}

    preview_bench.up(program.replace("COUNT", "2"))
    assert preview_bench.changes("--refresh") == {}

    preview_bench.pulumi("destroy", "--yes", "--skip-preview")
    assert preview_bench.resources() == {}


FEATURE = "Microsoft.Features/providers/Microsoft.ContainerService/features/GPUDedicatedVHDPreview"
REGISTERED = [f"{FEATURE}/register", "Microsoft.ContainerService/register"]


@pytest.fixture
def _not_registered(engine_cloud: Cloud) -> None:
    """The feature is not registered, whatever an earlier test has left behind."""
    azure, version = Azure(engine_cloud), "?api-version=2021-07-01"
    azure.call("POST", f"/providers/{FEATURE}/unregister{version}")
    azure.wait(
        f"/providers/{FEATURE}{version}",
        lambda reply: reply.body["properties"]["state"] in ("NotRegistered", "Unregistered"),
    )


def registration(more: str = "") -> str:
    return (
        "from aks_preview.resources import FeatureRegistration\n"
        "FeatureRegistration('feature', provider_namespace='Microsoft.ContainerService',"
        f" feature_name='GPUDedicatedVHDPreview'{more})\n"
    )


def posts(bench: PreviewBench) -> list[str]:
    """What the feature and its provider were asked to do, in order."""
    return [line["path"].partition("/providers/")[2] for line in bench.requests("POST")]


@pytest.mark.nightly
@pytest.mark.usefixtures("_not_registered")
def test_a_feature_stays_registered_after_destroy(preview_bench: PreviewBench) -> None:
    output = preview_bench.up(registration())

    assert "GPUDedicatedVHDPreview of Microsoft.ContainerService is Registering." in output
    assert "GPUDedicatedVHDPreview of Microsoft.ContainerService is Registered." in output
    assert posts(preview_bench) == REGISTERED
    assert preview_bench.changes("--refresh") == {}

    output = preview_bench.pulumi("destroy", "--yes", "--skip-preview")

    assert "GPUDedicatedVHDPreview of Microsoft.ContainerService stays registered" in output
    assert posts(preview_bench) == REGISTERED


@pytest.mark.nightly
@pytest.mark.usefixtures("_not_registered")
def test_a_feature_is_unregistered_on_request(preview_bench: PreviewBench) -> None:
    preview_bench.up(registration(", unregister_on_delete=True"))

    output = preview_bench.pulumi("destroy", "--yes", "--skip-preview")

    assert "stays registered" not in output
    assert posts(preview_bench) == [*REGISTERED, f"{FEATURE}/unregister"]


@pytest.mark.nightly
def test_pulumi_reads_the_schema(preview_bench: PreviewBench) -> None:
    output = preview_bench.run("package", "get-schema", str(ROOT / "plugins" / "aks_preview"))

    schema = json.loads(output[output.index("{") :])
    pool = schema["resources"]["aks-preview:containerservice:AgentPool"]
    assert pool["inputProperties"]["vmSize"]["willReplaceOnChanges"]
    assert "willReplaceOnChanges" not in pool["inputProperties"]["count"]
    assert pool["requiredInputs"] == ["agentPoolName", "resourceGroupName", "resourceName"]
    assert schema["config"]["variables"]["clientSecret"]["secret"]


@pytest.mark.nightly
def test_the_configuration_overrides_the_environment(preview_bench: PreviewBench, aks: Aks) -> None:
    preview_bench.pulumi("config", "set", "aks-preview:clientId", "nobody")
    preview_bench.pulumi("config", "set", "aks-preview:apiVersion", "2026-05-01")
    secret = "a-secret-of-the-test"
    preview_bench.pulumi("config", "set", "--secret", "aks-preview:clientSecret", secret)

    output = preview_bench.up(aks.program(), fails=True)

    assert "Cannot sign in to Azure" in output
    assert "AADSTS700016" in output
    state = preview_bench.pulumi("stack", "export")
    assert not {secret, preview_bench.cloud.client_secret} & {*output.split(), *state.split('"')}
    assert secret not in output + state

    preview_bench.pulumi("config", "rm", "aks-preview:clientId")
    preview_bench.pulumi("config", "rm", "aks-preview:clientSecret")
    preview_bench.up(aks.program())
    put = preview_bench.requests("PUT", f"{aks.path}/agentPools")[-1]
    assert put["query"]["api-version"] == "2026-05-01"
