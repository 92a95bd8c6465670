"""The real Azure CLI: what users of GPU pools run in their first hours, and what it prints."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.running import ProgramError
from machine_setup import ensure_kubernetes
from rehearsal import cloud
from tests.article.azure_cli import ensure_azure_cli
from tests.article.by_hand import sign_in
from tests.article.steps import Way
from tests.bench import ROOT
from tests.faults import Faults
from tests.processes import command_lines, is_running
from tests.rehearsal.arm.loaded_az import loaded_az
from tests.waiting import until

pytestmark = [pytest.mark.engine, pytest.mark.long]

QUICK = 0.05
NAMES = "-g gpus -n c"
POOL = "-g gpus --cluster-name c -n nodepool1"


# Has `az` loaded, and waits.
USER = """
import pathlib, sys, time
from tests.rehearsal.arm.loaded_az import loaded_az
with loaded_az(*map(pathlib.Path, sys.argv[1:])):
    print("loaded", flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Somebody who is signed in, in a cloud with one group and one cluster."""
    folder = tmp_path_factory.mktemp("azure-cli")
    home, kubernetes = folder / "cloud", ensure_kubernetes().folder
    with loaded_az(ensure_azure_cli(print), folder) as azure_cli:
        made = sign_in(cloud.start(home, QUICK, "today", kubernetes), azure_cli, kubernetes, print)
        try:
            run(made, "az group create -n gpus -l eastus --tags team=ml")
            run(made, "az group create -n others -l eastus")
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


def test_a_loaded_az_prints_and_ends_as_az_does(way: Way) -> None:
    stranger = way.runner.with_(AZURE_CONFIG_DIR=str(way.runner.folder / "nobody"))
    (way.runner.folder / "query").write_text("name")
    codes = []
    for runner, command in (
        (way.runner, "az group show -n gpus -o table"),
        (way.runner, "az group show -n nowhere"),
        (way.runner, "az group show --nam"),
        # Of other settings, and with a file in the command's folder.
        (stranger, "az group show -n gpus"),
        (way.runner, "az group show -n gpus --query @query"),
    ):
        _, *arguments = shlex.split(command)
        loaded, real = (
            runner.attempt(str(az), *arguments) for az in ("az", ensure_azure_cli(print) / "az")
        )
        assert (loaded.code, loaded.out, loaded.err) == (real.code, real.out, real.err)
        codes.append(loaded.code)
    assert codes == [0, 3, 2, 1, 0]


def test_a_loaded_az_ends_with_its_user(tmp_path: Path) -> None:
    command = [sys.executable, "-c", USER, str(ensure_azure_cli(print)), str(tmp_path)]
    user = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert user.stdout
    user.stdout.readline()
    [keeper] = command_lines(str(tmp_path / "az.modules"))
    user.kill()
    user.communicate()
    until(lambda: not is_running(keeper), "the process that has it loaded has ended")


# What a command has to print, by the command: a part of a text, or what a query finds.
PRINTS: dict[str, Any] = {
    "az group list --tag team=ml --query [].name": ["gpus"],
    "az group list --tag team=other --query [].name": [],
    "az resource show -g gpus -n c --resource-type Microsoft.ContainerService/managedClusters "
    "--query name": "c",
    "az account list-locations --query \"[?name=='eastus'].displayName\"": ["East US"],
    "az resource list -g gpus --query [].name": ["c"],
    "az resource list -g others --query [].name": [],
    "az resource list --resource-type Microsoft.ContainerService/managedClusters --query [].type": [
        "Microsoft.ContainerService/managedClusters"
    ],
    f"az aks get-upgrades {NAMES} --query controlPlaneProfile.upgrades[].kubernetesVersion": [
        "1.37.1"
    ],
    f"az aks get-upgrades {NAMES} -o table": "1.36.5",
    "az aks nodepool get-upgrades -g gpus --cluster-name c --nodepool-name nodepool1 "
    "--query kubernetesVersion": "1.36.5",
    "az aks get-versions -l eastus --query values[?isDefault].version": ["1.36"],
    "az aks nodepool list -g gpus --cluster-name c --query [].name": ["nodepool1"],
    "az aks list --query [].name": ["c"],
    "az provider show -n Microsoft.ContainerService --query registrationState": "Registered",
    "az provider register -n Microsoft.ContainerService --wait": "",
    "az group exists -n gpus": True,
    "az group show -n gpus --query [location,tags.team]": ["eastus", "ml"],
    "az vm list-usage -l eastus --query \"[?name.value=='cores'].name.localizedValue\"": [
        "Total Regional vCPUs"
    ],
    # It is there from the start, as in a subscription in use.
    "az feature show --namespace Microsoft.Compute -n EncryptionAtHost "
    "--query [properties.state]": ["Registered"],
    # One that no test registers.
    "az feature show --namespace Microsoft.ContainerService -n GPUDedicatedVHDPreview "
    "--query properties.state": "NotRegistered",
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
    f"az aks wait {NAMES} --created": "",
    "az group wait -n gpus --exists": "",
    "az vm list-skus -l eastus --size Standard_NC4as --query [].name": ["Standard_NC4as_T4_v3"],
}


@pytest.mark.parametrize("command", PRINTS)
@pytest.mark.nightly
def test_az_prints_expected_output(way: Way, command: str) -> None:
    output = run(way, command)
    if isinstance(PRINTS[command], str):
        assert PRINTS[command] in output
    else:
        assert output == PRINTS[command]


# What stands around a cluster: each command needs what the ones before have created.
AROUND: dict[str, Any] = {
    "az identity create -g around -n i --query name": "i",
    "az network vnet create -g around -n v --address-prefixes 10.0.0.0/8 --query newVNet.name": "v",
    "az network vnet subnet create -g around --vnet-name v -n s --address-prefixes 10.1.0.0/16 "
    "--query name": "s",
    "az network vnet subnet list -g around --vnet-name v --query [].name": ["s"],
    "az network public-ip create -g around -n out --sku Standard --query publicIp.name": "out",
    "az network nat gateway create -g around -n nat --public-ip-addresses out --query name": "nat",
    "az network nsg create -g around -n rules --query NewNSG.name": "rules",
    "az network private-dns zone create -g around -n corp.internal --query name": "corp.internal",
    "az acr create -g around -n images --sku Basic --query loginServer": "images.azurecr.io",
    "az acr show -g around -n images --query sku.name": "Basic",
    "az keyvault create -g around -n team-secrets --query properties.vaultUri": (
        "https://team-secrets.vault.azure.net/"
    ),
    "az monitor log-analytics workspace create -g around -n logs --query name": "logs",
    "az storage account create -g around -n teamlogs --query primaryEndpoints.blob": (
        "https://teamlogs.blob.core.windows.net/"
    ),
    "az role assignment create --role AcrPull --assignee-object-id {principal} "
    "--assignee-principal-type ServicePrincipal --scope {registry} --query scope": "{registry}",
    "az role assignment list --scope {registry} --query [].principalId": ["{principal}"],
    "az aks maintenanceconfiguration add -g gpus --cluster-name c -n default --weekday Monday "
    "--start-hour 1 --query name": "default",
    "az aks maintenanceconfiguration list -g gpus --cluster-name c --query [].name": ["default"],
    "az network vnet list -g around --query [].name": ["v"],
    "az acr delete -g around -n images --yes": "",
    "az acr list -g around --query [].name": [],
}


@pytest.mark.nightly
def test_what_stands_around_a_cluster_is_stored(way: Way) -> None:
    """`az role assignment create` and all that AKS does not own ended in errors that misled."""
    group = run(way, "az group create -n around -l eastus --query id")
    words = {"registry": f"{group}/providers/Microsoft.ContainerRegistry/registries/images"}
    differences = []
    for command, expected in AROUND.items():
        if "{principal}" in command or "{principal}" in str(expected):
            words["principal"] = run(way, "az identity show -g around -n i --query principalId")
        filled = json.loads(_filled(json.dumps(expected), words))
        try:
            printed = run(way, _filled(command, words))
        except ProgramError as error:
            printed = str(error)
        if printed != filled:
            differences.append(f"{command}: {printed}")
    assert differences == []


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


T4 = "--node-vm-size Standard_NC4as_T4_v3"
ADD = f"az aks nodepool add -g gpus --cluster-name c -n new {T4}"
# What has to stand in the words of a command that is refused.
REFUSED: dict[str, str] = {
    "az group create -n somewhere -l atlantis": "LocationNotAvailableForResourceGroup",
    "az ad sp list": "does not have Microsoft Graph",
    f"{ADD} --gpu-instance-profile MIG1g": "MIG1g is not supported on VM size",
    f"{ADD} --priority Spot --max-surge 33%": "Spot pools can't set max surge",
    f"{ADD} --labels kubernetes.azure.com/x=y": "preserved by aks system labels",
    f"{ADD} --max-pods 5": "InsufficientMaxPods",
    f"{ADD} --node-osdisk-type Ephemeral --node-osdisk-size 2000": "VMCannotFitEphemeralOSDisk",
    f"{ADD} --os-type Windows": "The rehearsal does not have pools with osType Windows",
    f"{ADD} -k 1.37.1": "NodePoolMcVersionIncompatible",
    f"{ADD} --aks-custom-headers UseGPUDedicatedVHD=true": "UseGPUDedicatedVHD",
    f"az aks nodepool scale {POOL} -c 0": "3) The node is a system pool.",
    f"az aks nodepool delete {POOL}": "a cluster needs at least one",
    f"az aks update {NAMES} --disable-local-accounts": "Azure AD integration enabled cluster",
    "az aks create -g others -n d --no-ssh-key --service-cidr 10.0.0.0/8 "
    "--dns-service-ip 10.0.0.10": "must be smaller than /12",
}


@pytest.mark.parametrize("command", REFUSED)
@pytest.mark.nightly
def test_az_reports_refusals(way: Way, command: str) -> None:
    """Nearly all of these ended well here alone."""
    outcome = way.runner.attempt(*shlex.split(command))
    assert outcome.code not in (0, 2), outcome
    assert REFUSED[command] in outcome.err


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
    run(way, f"az aks nodepool stop {pool}")
    stopped = run(way, f"az aks nodepool show {pool} --query [powerState.code,count]")
    assert stopped == ["Stopped", 0]
    run(way, f"az aks nodepool delete {pool}")
    gone = way.runner.attempt(*f"az aks nodepool show {pool}".split())
    assert (gone.code, "Could not find the agentpool" in gone.err) == (3, True)


@pytest.mark.nightly
def test_az_creates_and_deletes_a_group(way: Way) -> None:
    run(way, "az group create -n while -l westus")
    tagged = run(way, "az group update -n while --set tags.team=ml --query tags")
    assert tagged == {"team": "ml"}
    run(way, "az group delete -n while --yes --no-wait")
    run(way, "az group wait -n while --deleted")
    assert run(way, "az group exists -n while") is False


@pytest.mark.nightly
def test_az_registers_a_feature(way: Way) -> None:
    feature = "--namespace Microsoft.ContainerService -n ManagedGPUExperiencePreview"
    begun = run(way, f"az feature register {feature} --query properties.state")
    assert begun in {"Registering", "Registered"}
    shown = f"az feature show {feature} --query properties.state"
    until(lambda: run(way, shown) == "Registered", "the feature is registered")


@pytest.mark.nightly
def test_az_creates_a_mig_pool_and_deletes_it_without_waiting(way: Way) -> None:
    pool = "-g gpus --cluster-name c -n mig"
    made = run(
        way,
        f"az aks nodepool add {pool} --node-vm-size Standard_NC24ads_A100_v4 --node-count 1 "
        "--gpu-instance-profile MIG1g",
    )
    assert made["gpuInstanceProfile"] == "MIG1g"
    run(way, f"az aks nodepool delete {pool} --no-wait")
    run(way, f"az aks nodepool wait {pool} --deleted")


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
    again = run(way, "az resource list --tag team=ml --query [].name")
    assert again == ["c"]


@pytest.mark.nightly
def test_az_replaces_an_older_kubeconfig(way: Way) -> None:
    file = way.runner.folder / "twice"
    for _ in range(2):
        run(
            way, f"az aks get-credentials {NAMES} --file {file} --context mine --overwrite-existing"
        )
    config = yaml.safe_load(Path(file).read_text())
    assert [context["name"] for context in config["contexts"]] == ["mine"]
    assert config["current-context"] == "mine"


@pytest.mark.nightly
def test_az_names_the_context_of_an_admin_kubeconfig(way: Way) -> None:
    """It was `c-admin-admin`: the CLI adds the word itself."""
    file = way.runner.folder / "admin"
    run(way, f"az aks get-credentials {NAMES} --admin --file {file}")
    config = yaml.safe_load(Path(file).read_text())
    assert config["current-context"] == "c-admin"


@pytest.mark.nightly
def test_az_lists_machines_and_upgrades_node_images(way: Way) -> None:
    machines = run(way, "az aks machine list -g gpus --cluster-name c --nodepool-name nodepool1")
    [machine] = machines
    assert machine["name"].startswith("aks-nodepool1-")
    shown = run(
        way,
        "az aks machine show -g gpus --cluster-name c --nodepool-name nodepool1 "
        f"--machine-name {machine['name']}",
    )
    assert shown["properties"]["resourceId"] == machine["properties"]["resourceId"]
    run(way, f"az aks upgrade {NAMES} --node-image-only --yes")
    run(way, f"az aks nodepool upgrade {POOL} --node-image-only")
    assert run(way, f"az aks show {NAMES} --query provisioningState") == "Succeeded"


@pytest.mark.nightly
def test_az_upgrades_a_cluster(way: Way) -> None:
    run(way, "az aks create -g others -n older --node-count 1 --no-ssh-key -k 1.34")
    upgraded = run(way, "az aks upgrade -g others -n older -k 1.35.9 --yes")
    [pool] = upgraded["agentPoolProfiles"]
    versions = [upgraded["currentKubernetesVersion"], pool["currentOrchestratorVersion"]]
    assert versions == ["1.35.9", "1.35.9"]
    run(way, "az aks delete -g others -n older --yes")


@pytest.mark.nightly
def test_az_stops_and_starts_a_cluster(way: Way) -> None:
    run(way, f"az aks stop {NAMES}")
    assert run(way, f"az aks show {NAMES} --query powerState.code") == "Stopped"
    again = way.runner.attempt(*f"az aks stop {NAMES}".split())
    assert "stopping cannot be performed" in again.err
    run(way, f"az aks start {NAMES}")
    assert run(way, f"az aks show {NAMES} --query powerState.code") == "Running"


@pytest.mark.nightly
def test_az_aborts_an_operation(way: Way) -> None:
    faults = Faults(way.azure.cloud.home)
    faults.script({"method": "PUT", "path": "agentPools/late$", "operation": "stuck"})
    pool = "-g gpus --cluster-name c -n late"
    run(way, f"az aks nodepool add {pool} --node-vm-size Standard_D4ds_v5 --no-wait")
    run(way, "az aks nodepool operation-abort -g gpus --cluster-name c --nodepool-name late")
    faults.lift()
    assert run(way, f"az aks nodepool show {pool} --query provisioningState") == "Canceled"
    run(way, f"az aks nodepool delete {pool}")


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
