"""A secret in a stack file, from `pulumi config set --secret` to Azure and back."""

import json

import pytest

from tests.bench import Bench
from tests.faults import Faults
from tests.names import unique
from tests.test_stacks_on_engine import POOL, stack

pytestmark = [pytest.mark.engine, pytest.mark.long]

SECRET = "correct-horse-battery"
HEADER = "X-Cost-Center"
# A property of pools that AKS repeats in the cluster's list of pools.
PROPERTY = "aks-gpu:gpuPools[0].extra.messageOfTheDay"


def written(bench: Bench) -> dict[str, str]:
    """All that was written while the stack was at work, but for the program's own environment."""
    files = [path for path in bench.folder.rglob("*") if path.is_file()]
    files.append(bench.cloud.home / "server.log")
    assert any(path.name.endswith(".history.json") for path in files)
    return {str(path): path.read_text(errors="replace") for path in files}


def brought_up(bench: Bench) -> list[str]:
    """A stack with secrets in it, brought up and changed; all that was printed."""
    name = unique("secrets")
    bench.write_stack(stack(name, POOL | {"customHeaders": {"EnableACRTeleport": "true"}}))
    for path in (f"aks-gpu:gpuPools[0].customHeaders.{HEADER}", PROPERTY):
        bench.pulumi("config", "set", "--secret", "--path", path, SECRET)
    settings = [
        bench.pulumi("preview", "--diff"),
        bench.pulumi("up", "--yes", "--skip-preview"),
        bench.pulumi("stack", "output"),
    ]
    path = "aks-gpu:gpuPools[0].customHeaders.X-Owner"
    bench.pulumi("config", "set", "--secret", "--path", path, SECRET)
    return [
        *settings,
        bench.pulumi("preview", "--diff"),
        bench.pulumi("preview", "--json"),
        bench.pulumi("up", "--yes", "--diff"),
        bench.pulumi("refresh", "--yes"),
    ]


def test_a_secret_setting_is_secret_in_every_resource(bench: Bench, faults: Faults) -> None:
    """`pulumi config set --secret` came out in clear in the state and in every diff."""
    answer = {"kubeconfigs": [{"name": "clusterUser", "value": "YQ=="}]}
    faults.script(
        {"method": "POST", "path": "listClusterUserCredential", "status": 200, "body": answer}
    )
    settings = brought_up(bench)
    pool = bench.resources()["gpu"]

    # It has reached Azure: as a header, and as a property.
    shown = json.loads(bench.pulumi("stack", "export", "--show-secrets"))
    (whole,) = (
        resource for resource in shown["deployment"]["resources"] if resource["urn"] == pool["urn"]
    )
    inputs = whole["inputs"]
    assert SECRET in json.dumps(inputs["customHeaders"])
    assert SECRET in json.dumps(inputs["messageOfTheDay"])

    for text in settings:
        assert SECRET not in text
    for path, text in written(bench).items():
        assert SECRET not in text, path
    assert "[secret]" in settings[0]
    puts = bench.requests("PUT", "agentPools")
    assert puts
    assert SECRET not in str([put["headers"] for put in puts])
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


@pytest.mark.nightly
def test_a_secret_setting_is_secret_without_an_inline_pool(bench: Bench) -> None:
    """AKS's own list of pools came to the state in clear once `systemPool` was removed."""
    name = unique("removed")
    larger = {"name": "larger", "vmSize": "Standard_D8ds_v5"}
    bench.write_stack(stack(name, POOL, systemPools=[larger]))
    bench.pulumi("config", "set", "--secret", "--path", PROPERTY, SECRET)
    bench.pulumi("up", "--yes", "--skip-preview")
    bench.pulumi("config", "set", "--path", "aks-gpu:systemPool.removed", "true")
    bench.pulumi("up", "--yes", "--skip-preview")
    shown = bench.pulumi("stack", "export", "--show-secrets")
    assert SECRET in shown
    for path, text in written(bench).items():
        assert SECRET not in text, path
    bench.pulumi("destroy", "--yes", "--ignore-protect", "--skip-preview")


@pytest.mark.parametrize("path", ["location", "gpuPools[0].vmSize"])
def test_a_setting_that_cannot_be_secret_is_refused_with_its_line(bench: Bench, path: str) -> None:
    bench.write_stack(stack("refused", POOL))
    bench.pulumi("config", "set", "--secret", "--path", f"aks-gpu:{path}", "westeurope")

    output = bench.pulumi("preview", fails=True)

    assert f"{path}: cannot be a secret" in output
    assert "(Pulumi.test.yaml:" in output
    assert not bench.requests("PUT")
