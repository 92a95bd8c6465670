"""A stack file read outside of Pulumi: as a program would get it, with all mistakes at once."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.outcome import Cause, StoppedError
from aksgpu.preflight.stack_file import StackConfiguration, placeholders, read
from stack_settings.stack_file import NoStackFileError, StackFile, StackFileError
from tests.bench import ROOT, STACKS


def written(folder: Path, content: Any) -> StackConfiguration:
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    (folder / "Pulumi.test.yaml").write_text(text)
    return read(folder, "test")


def mistakes(folder: Path, content: Any) -> list[str]:
    with pytest.raises(StoppedError) as raised:
        written(folder, content)
    findings = raised.value.findings
    assert {finding.cause for finding in findings} == {Cause.STACK_FILE_INVALID}
    return list(map(str, findings))


@pytest.mark.parametrize("stack", STACKS)
def test_the_stack_files_of_this_repository_are_valid(stack: str) -> None:
    stack_file = read(STACKS[stack], stack)
    assert stack_file.settings.gpu_pools
    assert bool(stack_file.warnings) == (stack == "article")


def test_all_mistakes_are_reported_at_once_by_key(tmp_path: Path) -> None:
    pools = [{"name": "Bad", "vmSize": "Standard_D4ds_v5"}]
    config = {"aks-gpu:gpuPools": pools, "aks-gpu:location": "East US", "aks-gpu:clutser": {}}
    messages = mistakes(tmp_path, {"config": config})
    places = {line.partition(":")[0]: line.rpartition(" (")[2] for line in messages}
    assert places == {
        "location": "line 6)",
        "gpuPools[0].name": "line 4)",
        "gpuPools[0].vmSize": "line 5)",
        "clutser": "line 2)",
    }
    assert len(messages) == len(places)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("config: [", "Pulumi.test.yaml is not valid YAML"),
        ("- a\n- b", "must contain a map `config`"),
        ("config: 3", "must contain a map `config`"),
    ],
)
def test_a_file_that_is_no_stack_file_is_reported(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(StackFileError, match=words):
        written(tmp_path, content)


def test_a_missing_stack_file_is_reported_with_the_existing_ones(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.other.yaml").touch()
    with pytest.raises(NoStackFileError, match=r"no stack file Pulumi.gone.yaml.*other"):
        read(tmp_path, "gone")


def test_values_are_read_as_pulumi_passes_them(tmp_path: Path) -> None:
    config = {"aks-gpu:allowRetired": True, "location": "westeurope", "aks-gpu:tags": {"a": "b"}}
    settings = written(tmp_path, {"config": config}).settings
    assert (settings.allow_retired, settings.location) == (True, "westeurope")
    assert settings.tags == {"a": "b"}
    # An empty file is one that leaves everything as it is.
    assert written(tmp_path, "").settings.location == "eastus"


def test_what_the_project_file_says_applies_where_the_stack_file_does_not(tmp_path: Path) -> None:
    """Preflight asked Azure about the default region, in the subscription of the shell."""
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 1}
    declared = {
        "aks-gpu:location": {"type": "string", "default": "westeurope"},
        "gpuTaint": "nvidia.com/gpu",
        "aks-gpu:gpuPools": {"default": [pool]},
        "allowRetired": {"type": "boolean"},
        "azure-native:subscriptionId": {"value": "1234"},
    }
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump({"config": declared}))
    stack = written(tmp_path, {"config": {"aks-gpu:gpuPools": [{**pool, "count": 2}]}})
    assert (stack.settings.location, stack.settings.gpu_taint) == ("westeurope", "nvidia.com/gpu")
    assert [each.count for each in stack.settings.gpu_pools] == [2]
    assert stack.azure.text("subscriptionId") == "1234"
    declared |= {"clustr": {"default": {}}}
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump({"config": declared}))
    (line,) = mistakes(tmp_path, "")
    assert line.startswith("clustr: is not a key of a stack file: did you mean cluster?")


def test_secrets_are_refused_only_where_a_setting_cannot_be_secret(tmp_path: Path) -> None:
    secret = {"secure": "v1:abc"}
    config: dict[str, Any] = {
        "azure-native:clientSecret": secret,
        "aks-gpu:systemPool": {"customHeaders": {"a": secret}},
        "aks-gpu:location": "westus",
    }
    assert written(tmp_path, {"config": config}).settings.location == "westus"
    config |= {"aks-gpu:cluster": {"name": secret}, "aks-gpu:gpuPools": [{"name": "Bad"}]}
    messages = mistakes(tmp_path, {"config": config})
    assert messages[0] == (
        "cluster.name: cannot be a secret (only customHeaders, extra and gpuOperator.values can): "
        "set it again without --secret (line 3)"
    )
    assert {line.partition(":")[0] for line in messages[1:]} == {
        "gpuPools[0].name",
        "gpuPools[0].vmSize",
    }


def test_a_secret_item_or_misspelled_key_is_named_as_the_program_names_it(tmp_path: Path) -> None:
    """The next item had the index of the encrypted one; a misspelled key was none."""
    secret = {"secure": "v1:abc"}
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3"}
    zones: list[Any] = [secret, 9]
    pools = [{**pool, "zones": zones}, {**pool, "name": "b", "customHeadres": secret}]
    lines = mistakes(tmp_path, {"config": {"aks-gpu:gpuPools": pools, "clustr": secret}})
    assert {
        line.partition(": ")[0]: "misspelled" if "did you" in line else "" for line in lines
    } == {
        "gpuPools[0].zones[0]": "",
        "gpuPools[0].zones[1]": "",
        "gpuPools[1].customHeadres": "misspelled",
        "clustr": "misspelled",
    }
    assert "secret=" not in "".join(lines)


def test_the_subscription_of_the_stack_file_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", "of-the-environment")
    assert written(tmp_path, "").azure.text("subscriptionId") == "of-the-environment"
    config = {"azure-native:subscriptionId": "native", "azure-native:clientSecret": {"secure": "x"}}
    assert written(tmp_path, {"config": config}).azure.text("subscriptionId") == "native"
    config |= {"aks-preview:subscriptionId": "preview"}
    assert written(tmp_path, {"config": config}).azure.text("subscriptionId") == "native"
    del config["azure-native:subscriptionId"]
    assert written(tmp_path, {"config": config}).azure.text("subscriptionId") == "preview"


def test_each_placeholder_is_found_by_its_key() -> None:
    """Whoever copied prod had to find by eye what was an example in it."""
    group = {"adminGroupObjectIds": ["00000000-0000-0000-0000-000000000000"]}
    reserved = "/subscriptions/00000000-0000-0000-0000-000000000000/x"
    pool = {"name": "a", "vmSize": "Standard_NC8as_T4_v3", "labels": {"a": "b"}}
    pools = [pool, {**pool, "name": "b", "capacityReservationGroupId": reserved}]
    config = {"aks-gpu:cluster": {"entra": group}, "aks-gpu:gpuPools": pools}
    file = StackFile({"config": config}, "Pulumi.test.yaml")
    assert placeholders(file) == [
        "cluster.entra.adminGroupObjectIds[0]",
        "gpuPools[1].capacityReservationGroupId",
    ]
    assert read(ROOT, "prod").placeholders == ["cluster.entra.adminGroupObjectIds[0]"]
    assert read(ROOT, "dev").placeholders == []
