"""Every row of the article is proven in both ways, and a proof that fails is a row not ok."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.running import ProgramError
from rehearsal.cloud import Cloud
from tests.article import by_hand, names
from tests.article.arm_view import Azure
from tests.article.by_program import NEW_CLUSTER, STEPS, WITHOUT_JOB
from tests.article.commands import Runner
from tests.article.proofs_in_kubernetes import missing
from tests.article.rows import BY_HAND, BY_PROGRAM, NOTES, ROWS
from tests.article.steps import NotShownError, Proof, Step, Way, go, require
from tests.bench import ROOT


@pytest.fixture
def way(tmp_path: Path) -> Way:
    cloud = Cloud(tmp_path, "", 0, "", "", "", "", tmp_path, tmp_path / "requests.jsonl", 1.0)
    return Way(Azure(cloud), Runner(tmp_path, {}, lambda _: None))


def nothing(_: Way) -> None:
    pass


def refuse(_: Way) -> str:
    raise NotShownError("it is not there")


def misread(_: Way) -> str:
    nothing_there: dict[str, str] = {}
    return nothing_there["status"]


def fail(_: Way) -> None:
    raise ProgramError("az ended with exit code 1")


def test_the_table_is_the_articles() -> None:
    numbers = [row.number for row in ROWS] + [note.number for note in NOTES]

    assert numbers == list(range(1, 22))


@pytest.mark.parametrize("steps", [by_hand.STEPS, STEPS])
def test_every_row_is_covered_by_one_step_by_hand_and_one_by_program(
    steps: tuple[Step, ...],
) -> None:
    shown = sorted(number for step in steps for number in step.shows)

    assert shown == sorted(BY_HAND) == sorted(BY_PROGRAM)


@pytest.mark.parametrize(
    ("do", "proof", "result", "detail"),
    [
        (nothing, lambda _: "kubectl says so", "ok", "kubectl says so"),
        (nothing, refuse, "not ok", "it is not there"),
        (nothing, misread, "not ok", "cannot be read"),
        (fail, lambda _: "kubectl says so", "not ok", "exit code 1"),
    ],
)
def test_a_failed_step_or_a_failed_check_makes_its_row_not_ok(
    way: Way, do: Any, proof: Proof, result: str, detail: str
) -> None:
    later = Step(nothing, (2,))

    findings = go([Step(do, (1,)), later], way, {1: proof, 2: lambda _: "still looked at"})

    assert findings[1].result == result
    assert detail in findings[1].proof
    assert findings[2].result == "ok"


def test_a_cluster_without_credentials_is_reported(way: Way) -> None:
    with pytest.raises(NotShownError, match="no credentials for the cluster in g"):
        way.cluster("g")


def test_an_unmet_requirement_is_reported() -> None:
    require(["something"], "never")
    with pytest.raises(NotShownError, match="there is nothing"):
        require([], "there is nothing")


@pytest.mark.parametrize(
    ("live", "lacking"),
    [
        ({"a": {"b": 1, "more": 2}, "list": [{"x": "y"}, {"n": "1"}]}, []),
        ({"a": {"b": 2}, "list": [{"n": 1}]}, ["a.b"]),
        ({"a": {"b": 1}, "list": [{"n": 2}]}, ["list[0]"]),
        ({}, ["a.b", "list[0]"]),
    ],
)
def test_missing_names_the_parts_of_a_manifest_that_the_cluster_lacks(
    live: Any, lacking: list[str]
) -> None:
    assert list(missing({"a": {"b": 1}, "list": [{"n": 1}]}, live)) == lacking


def test_the_manifests_have_the_articles_values() -> None:
    daemon_set, job = (
        yaml.safe_load((names.MANIFESTS / file).read_text())
        for file in (names.DAEMON_SET_FILE, names.JOB_FILE)
    )
    pod = daemon_set["spec"]["template"]
    (plugin,) = pod["spec"]["containers"]
    assert plugin["image"] == "mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11"
    assert pod["metadata"]["annotations"] == {"scheduler.alpha.kubernetes.io/critical-pod": ""}
    assert plugin["volumeMounts"][0]["mountPath"] == "/var/lib/kubelet/device-plugins"
    (sample,) = job["spec"]["template"]["spec"]["containers"]
    assert sample["image"] == "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
    assert sample["args"] == ["--max_steps", "500"]
    assert sample["resources"]["limits"] == {"nvidia.com/gpu": 1}


def test_the_variants_use_only_keys_of_the_articles_stack_file() -> None:
    config = yaml.safe_load((ROOT / "tests" / "article" / "Pulumi.article.yaml").read_text())
    known = {key.removeprefix("aks-gpu:") for key in config["config"]}

    assert {*NEW_CLUSTER, *WITHOUT_JOB} <= known
