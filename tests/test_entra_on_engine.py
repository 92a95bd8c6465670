"""A cluster that people sign in to with Entra, and with nothing else."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from machine_setup import Engine, ensure_kubernetes
from rehearsal.arm import tokens
from rehearsal.arm.home import Home, load_principal
from rehearsal.cloud import Cloud
from tests.checked import checked_stack
from tests.cluster_bench import ClusterBench
from tests.names import unique
from tests.rehearsal.conftest import API_VERSION, Azure
from tests.test_clusters_life_on_engine import cluster_path
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.engine, pytest.mark.long]

ENTRA = {"adminGroupObjectIds": ["6f0f2f5a-4d4b-4d0e-9d3f-2f1c5a9b7e10"]}


def kubectl(folder: Path, config: Any, environment: dict[str, str]) -> Any:
    file = folder / "some.kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return subprocess.run(
        [ensure_kubernetes().kubectl, "--kubeconfig", file, "get", "nodes"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_stack_without_local_accounts_runs_its_job(
    engine: Engine, whole_cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rehearsal gave everybody a certificate: that kubelogin is needed showed on Azure."""
    bench = ClusterBench(engine, whole_cloud, tmp_path).begin()
    name = unique("entra")
    config = {
        "resourceGroup": {"name": name},
        "cluster": {"name": name, "entra": ENTRA, "disableLocalAccounts": True},
        "gpuPools": [{"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}],
        "sampleJob": {"enabled": True},
    }
    bench.write_stack(config)
    # As a job of a workflow signs in to the cluster: with a token in a file, and no secret.
    home = Home(whole_cloud.home)
    token = tmp_path / "token"
    issuer, principal = tokens.load(home), load_principal(home)
    token.write_text(issuer.issue(principal, tokens.FEDERATION, "https://github.invalid"))
    as_a_job = {
        **whole_cloud.environment(),
        "AAD_LOGIN_METHOD": "workloadidentity",
        "AZURE_FEDERATED_TOKEN_FILE": str(token),
        "AZURE_CLIENT_SECRET": "",
    }
    with monkeypatch.context() as patched:
        patched.setattr(Cloud, "environment", lambda _: as_a_job)
        bench.pulumi("up", "--yes", "--skip-preview")

    assert bench.pulumi("stack", "output", "oidcIssuerUrl").startswith("https://eastus.oic.")
    given = yaml.safe_load(bench.pulumi("stack", "output", "kubeconfig", "--show-secrets"))
    [user] = given["users"]
    assert user["user"].keys() == {"exec"}
    assert user["user"]["exec"]["command"] == "kubelogin"
    [job] = bench.objects("jobs")
    assert job["status"]["succeeded"] == 1

    # With kubelogin the check gets in; without, it says what is missing.
    assert checked_stack(bench).code == 0
    with monkeypatch.context() as patched:
        patched.setattr(Cloud, "on_path", lambda _, path: path)
        assert "`kubelogin`" in checked_stack(bench).only("credentials-refused")["what"]

    # Nobody is given a certificate, and nothing but a token for the cluster lets anybody in.
    azure = Azure(whole_cloud)
    address = f"{cluster_path(name)}/listClusterAdminCredential?api-version={API_VERSION}"
    refused = azure.call("POST", address)
    assert (refused.status, refused.body["code"]) == (400, "BadRequest")
    assert "disable local accounts" in refused.body["message"]
    assert kubectl(tmp_path, given, bench.environment).returncode == 0
    given["users"][0]["user"] = {"token": azure.own_token()}
    assert "logged in" in kubectl(tmp_path, given, bench.environment).stderr
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")
