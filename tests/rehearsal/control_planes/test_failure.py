"""A control plane that does not come up."""

from pathlib import Path

from rehearsal import cloud
from tests.rehearsal.conftest import FAST, Azure, new_cluster
from tests.rehearsal.control_planes.conftest import V, processes_of, until

PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def test_it_is_said_what_was_wrong_and_the_cluster_can_be_deleted(tmp_path: Path) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for part in PARTS:
        (binaries / part).write_text("#!/bin/sh\necho this is not what you want >&2\nexit 3\n")
        (binaries / part).chmod(0o755)
    home = tmp_path / "cloud"
    azure = Azure(cloud.start(home, FAST, kubernetes=binaries))
    try:
        azure.call("PUT", f"/resourceGroups/g{V}", {"location": "eastus"})
        path = f"/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c{V}"
        made = azure.call("PUT", path, new_cluster())
        operation = azure.below(made.headers["Azure-AsyncOperation"])

        def ended() -> bool:
            return bool(azure.call("GET", operation).body["status"] == "Failed")

        until(ended, "the creation has failed")
        error = azure.call("GET", operation).body["error"]
        assert error["code"] == "ControlPlaneFailed"
        assert "ended with status 3" in error["message"]
        assert "this is not what you want" in error["message"]
        assert azure.call("GET", path).body["properties"]["provisioningState"] == "Failed"
        credentials = path.replace("?", "/listClusterUserCredential?")
        refused = azure.call("POST", credentials)
        assert refused.body["code"] == "ControlPlaneNotReady"
        assert "ended with status 3" in refused.body["message"]

        assert azure.call("DELETE", path).status == 202
        until(lambda: azure.call("GET", path).status == 404, "the cluster is gone")
        assert [folder.name for folder in (home / "kubernetes").iterdir()] == ["processes"]
    finally:
        assert cloud.stop(home)
    assert processes_of(home) == []
