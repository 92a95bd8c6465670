"""The real Azure CLI: the commands of this project's pages, and what they print."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from machine_setup import ensure_kubernetes
from rehearsal import cloud
from tests.article.azure_cli import ensure_azure_cli
from tests.article.by_hand import sign_in
from tests.article.steps import Way
from tests.faults import Faults
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

QUICK = 0.05
NAMES = "-g gpus -n c"
POOL = "-g gpus --cluster-name c -n nodepool1"


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Somebody who is signed in, in a cloud with one group and one cluster."""
    folder = tmp_path_factory.mktemp("azure-cli")
    home, kubernetes = folder / "cloud", ensure_kubernetes().folder
    running = cloud.start(home, QUICK, "today", kubernetes)
    made = sign_in(running, ensure_azure_cli(print), kubernetes, print)
    try:
        run(made, "az group create -n gpus -l eastus --tags team=ml")
        # AKS chooses the size.
        run(made, f"az aks create {NAMES} --node-count 1 --no-ssh-key")
        yield made
    finally:
        assert cloud.stop(home)


def run(way: Way, command: str) -> Any:
    """What a command prints, as JSON if it is."""
    text = way.runner.read(*shlex.split(command))
    try:
        return json.loads(text)
    except ValueError:
        return text


# What a command has to print, by the command: a part of a text, or what a query finds.
PRINTS: dict[str, Any] = {
    "az account list-locations --query \"[?name=='eastus'].displayName\"": ["East US"],
    "az aks get-versions --location eastus --query values[?isDefault].version": ["1.36"],
    "az aks list --query [].name": ["c"],
    "az aks nodepool list -g gpus --cluster-name c --query [].name": ["nodepool1"],
    "az provider register -n Microsoft.ContainerService --wait": "",
    "az group exists -n gpus": True,
    "az group show -n gpus --query [location,tags.team]": ["eastus", "ml"],
    "az vm list-usage --location eastus --query \"[?name.value=='cores'].name.localizedValue\"": [
        "Total Regional vCPUs"
    ],
    # It is there from the start, as in a subscription in use.
    "az feature show --namespace Microsoft.Compute -n EncryptionAtHost "
    "--query [properties.state]": ["Registered"],
    f"az aks show {NAMES} --query [sku.name,sku.tier,agentPoolProfiles[0].vmSize]": [
        "Base",
        "Free",
        "Standard_D4ds_v5",
    ],
    f"az aks nodepool show {POOL} --query [mode,count,maxPods,osDiskType]": [
        "System",
        1,
        250,
        "Ephemeral",
    ],
    f"az aks get-credentials {NAMES} -f -": "current-context: c\n",
    "az vm list-skus --location eastus --size Standard_NC4as --query [].name": [
        "Standard_NC4as_T4_v3"
    ],
}


@pytest.mark.nightly
def test_az_prints_expected_output(way: Way) -> None:
    for command, expected in PRINTS.items():
        output = run(way, command)
        if isinstance(expected, str):
            assert expected in output, command
        else:
            assert output == expected, command


T4 = "--node-vm-size Standard_NC4as_T4_v3"
ADD = f"az aks nodepool add -g gpus --cluster-name c -n new {T4}"
# What has to stand in the words of a command that is refused.
REFUSED: dict[str, str] = {
    "az group create -n somewhere -l atlantis": "LocationNotAvailableForResourceGroup",
    "az group list --tag team=ml": "The rehearsal does not have $filter",
    f"{ADD} --gpu-instance-profile MIG1g": "MIG1g is not supported on VM size",
    f"{ADD} --aks-custom-headers UseGPUDedicatedVHD=true": "UseGPUDedicatedVHD",
    f"az aks nodepool scale {POOL} -c 0": "3) The node is a system pool.",
    f"az aks nodepool upgrade {POOL} --node-image-only": "The rehearsal does not have POST",
}


@pytest.mark.nightly
def test_az_reports_refusals(way: Way) -> None:
    """Nearly all of these ended well here alone."""
    for command, words in REFUSED.items():
        outcome = way.runner.attempt(*shlex.split(command))
        assert outcome.code not in (0, 2), outcome
        assert words in outcome.err


@pytest.mark.nightly
def test_az_creates_scales_upgrades_and_deletes_a_gpu_pool(way: Way) -> None:
    pool = "-g gpus --cluster-name c -n gpu"
    made = run(
        way,
        f"az aks nodepool add {pool} {T4} --node-count 0 -k 1.34 --zones 1 --priority Spot "
        "--spot-max-price 0.5 --gpu-driver none --labels team=ml --node-taints sku=gpu:NoSchedule",
    )
    assert made["nodeLabels"] == {"kubernetes.azure.com/scalesetpriority": "spot", "team": "ml"}
    assert made["nodeTaints"] == [
        "sku=gpu:NoSchedule",
        "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
    ]
    assert (made["gpuProfile"]["driver"], made["availabilityZones"]) == ("None", ["1"])
    run(way, f"az aks nodepool scale {pool} -c 1")
    upgraded = run(way, f"az aks nodepool upgrade {pool} -k 1.35.9 --yes")
    assert (upgraded["currentOrchestratorVersion"], upgraded["count"]) == ("1.35.9", 1)
    back = way.runner.attempt(*f"az aks nodepool upgrade {pool} -k 1.34.10 --yes".split())
    assert back.code != 0
    limits = "--enable-cluster-autoscaler --min-count 0 --max-count 2"
    assert run(way, f"az aks nodepool update {pool} {limits}")["maxCount"] == 2
    run(way, f"az aks nodepool delete {pool}")
    gone = way.runner.attempt(*f"az aks nodepool show {pool}".split())
    assert (gone.code, "Could not find the agentpool" in gone.err) == (3, True)


@pytest.mark.nightly
def test_az_registers_a_feature(way: Way) -> None:
    feature = "--namespace Microsoft.ContainerService -n ManagedGPUExperiencePreview"
    begun = run(way, f"az feature register {feature} --query properties.state")
    assert begun in {"Registering", "Registered"}
    shown = f"az feature show {feature} --query properties.state"
    until(lambda: run(way, shown) == "Registered", "the feature is registered")


@pytest.mark.nightly
def test_two_taints_of_one_key_and_effect_end_an_operation(way: Way) -> None:
    """The command waited without end, and nothing but the group could be deleted."""
    pool = "-g gpus --cluster-name c -n taints"
    taints = "sku=gpu:NoSchedule,sku=a100:NoSchedule"
    outcome = way.runner.attempt(
        *f"az aks nodepool add {pool} {T4} --node-count 1 --node-taints {taints}".split()
    )
    assert outcome.code == 1
    assert "taint" in outcome.err.lower()
    run(way, f"az aks nodepool delete {pool}")


@pytest.mark.nightly
def test_az_updates_a_cluster(way: Way) -> None:
    changed = run(way, f"az aks update {NAMES} --tier standard --tags team=ml")
    assert (changed["sku"]["tier"], changed["tags"]) == ("Standard", {"team": "ml"})
    assert run(way, f"az aks update {NAMES} --tier free")["sku"]["tier"] == "Free"


@pytest.mark.nightly
def test_az_stops_and_starts_a_cluster(way: Way) -> None:
    run(way, f"az aks stop {NAMES}")
    assert run(way, f"az aks show {NAMES} --query powerState.code") == "Stopped"
    again = way.runner.attempt(*f"az aks stop {NAMES}".split())
    assert "stopping cannot be performed" in again.err
    run(way, f"az aks start {NAMES}")
    assert run(way, f"az aks show {NAMES} --query powerState.code") == "Running"


def test_az_reports_unsupported_requests_without_a_404(way: Way) -> None:
    """`az` ended with 3, as if the cluster were not there."""
    outcome = way.runner.attempt("az", "network", "list-usages", "-l", "eastus")
    assert outcome.code == 1
    assert "The rehearsal does not have GET" in outcome.err


@pytest.mark.nightly
def test_az_polls_every_thirty_seconds_without_retry_after(way: Way) -> None:
    """AKS sends no `Retry-After`, and the CLI then asks every thirty seconds."""
    faults = Faults(way.azure.cloud.home)
    faults.script({"path": ".", "without": ["Retry-After", "x-ms-retry-after-ms"]})
    done = run(way, f"az aks nodepool update {POOL} --labels a=b")
    faults.lift()
    assert done["nodeLabels"] == {"a": "b"}
