"""Sign-in to clusters: what an API server is told of a token, and who gets one."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rehearsal.arm import tokens
from rehearsal.arm.home import Home, load_principal
from rehearsal.cloud import KUBELOGIN
from tests.waiting import PATIENCE

V = "?api-version=2026-08-01"
GROUP = "6f0f2f5a-4d4b-4d0e-9d3f-2f1c5a9b7e10"


def kubelogin(azure: Any, **more: str) -> Any:
    """Runs the offline plug-in as the kubeconfig of a cluster says."""
    arguments = ["--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630", "--login", "devicecode"]
    return subprocess.run(
        [KUBELOGIN / "kubelogin", "get-token", "--environment", "AzurePublicCloud", *arguments],
        env={**os.environ, **azure.cloud.environment(), **more},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def reviewed(azure: Any, path: str, token: str) -> Any:
    uid = azure.call("GET", f"{path}{V}").body["properties"]["resourceUID"]
    review = {"apiVersion": "authentication.k8s.io/v1", "spec": {"token": token}}
    answer = azure.call("POST", f"//rehearsal/clusters/{uid}/tokenreviews", review, token=None)
    assert (answer.status, answer.body["kind"]) == (200, "TokenReview")
    return answer.body["status"]


def test_an_api_server_accepts_entra_tokens_as_its_cluster_is_configured(
    azure: Any, cluster: str, cluster_body: Callable[..., Any]
) -> None:
    token = json.loads(kubelogin(azure).stdout)["status"]["token"]
    assert reviewed(azure, cluster, token) == {"authenticated": False}

    for entra, groups in (
        ({"managed": True}, []),
        ({"managed": True, "adminGroupObjectIDs": [GROUP]}, ["system:masters"]),
        ({"managed": True, "adminGroupObjectIDs": [], "enableAzureRBAC": True}, ["system:masters"]),
    ):
        azure.call("PUT", f"{cluster}{V}", cluster_body(aadProfile=entra))
        azure.wait(
            f"{cluster}{V}",
            lambda reply: reply.body["properties"]["provisioningState"] == "Succeeded",
        )
        status = reviewed(azure, cluster, token)
        assert (status["authenticated"], status["user"]["groups"]) == (True, groups)

    # A token for Resource Manager is none for clusters, and nothing else is one.
    for other in (azure.own_token(), "nonsense", ""):
        assert reviewed(azure, cluster, other) == {"authenticated": False}
    assert token not in azure.cloud.request_log.read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"AAD_LOGIN_METHOD": "devicecode"}, "AAD_LOGIN_METHOD=spn"),
        ({"AZURE_CLIENT_SECRET": "wrong"}, "AADSTS7000215"),
        ({"AZURE_AUTHORITY_HOST": "https://localhost:1"}, "failed to get token"),
    ],
)
def test_a_sign_in_without_valid_credentials_gets_no_token(
    azure: Any, more: dict[str, str], message: str
) -> None:
    ended = kubelogin(azure, **more)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert message in ended.stderr
    assert "wrong" not in ended.stderr


def test_a_job_signs_in_with_the_token_in_a_file(azure: Any, tmp_path: Path) -> None:
    """Where a cluster takes no certificate, no job of a workflow could sign in to it."""
    home = Home(azure.cloud.home)
    principal = load_principal(home)
    issuer = tokens.load(home)
    file = tmp_path / "token"
    how = {"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_FEDERATED_TOKEN_FILE": str(file)}
    file.write_text(issuer.issue(principal, tokens.FEDERATION, "https://github.invalid"))
    signed_in = kubelogin(azure, **how)
    assert json.loads(signed_in.stdout)["status"]["token"]

    # A token that is for something else, and a file that is not there.
    file.write_text(issuer.issue(principal, tokens.SERVER_APPLICATION, "https://github.invalid"))
    assert "AADSTS700213" in kubelogin(azure, **how).stderr
    file.unlink()
    assert "No such file" in kubelogin(azure, **how).stderr


def test_local_accounts_can_be_disabled(
    azure: Any, group: str, cluster_body: Callable[..., Any]
) -> None:
    path = f"/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/own"
    body = cluster_body(aadProfile={"managed": True}, disableLocalAccounts=True)
    assert azure.call("PUT", f"{path}{V}", body).status == 201
    refused = azure.call("POST", f"{path}/listClusterAdminCredential{V}")
    assert refused.status == 400
    assert "disable local accounts" in refused.body["message"]
