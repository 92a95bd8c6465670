"""Reviews on the rehearsal cloud, as a user runs them: what they say, and that nothing is left."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.outcome import Cause
from machine_setup.cache import sole_use
from rehearsal import cloud
from tests.aksgpu.review.make_example import FORMATS, KEPT, TERMINAL, make_example
from tests.aksgpu.review.pull_request import STACK, git, make_pull_request, run_review
from tests.bench import ROOT
from tests.processes import command_lines
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.engine


def names_of(stack: dict[str, Any], kind: str) -> list[str]:
    """The resources with this kind of change."""
    return [change["resource"]["name"] for change in stack["changes"] if change["kind"] == kind]


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    make_pull_request(folder)
    return folder


def left_of(home: Path) -> list[str]:
    """What is left where offline reviews live, beside the lock."""
    return [path.name for path in (home / "build" / "review").glob("*") if path.name != "lock"]


def clouds_of(home: Path) -> list[str]:
    """The servers of rehearsal clouds below a folder."""
    return [line for line in command_lines(str(home)).values() if "rehearsal.arm" in line]


def at_work_in(folder: Path) -> list[str]:
    """What runs in a folder."""
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                running.append((process / "cmdline").read_text())
    return running


def reviewed(tmp_path: Path, *arguments: str, cause: str) -> dict[str, Any]:
    report = tmp_path / "report.json"
    ended = run_review(tmp_path, "--offline", "--json", str(report), *arguments)
    code = next(known.exit_code for known in Cause if known.word == cause)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert left_of(tmp_path) == []
    assert clouds_of(tmp_path) == []
    document: dict[str, Any] = json.loads(report.read_text())
    assert (document["cause"], document["exitCode"]) == (cause, code)
    return document


@pytest.mark.long
def test_the_checked_in_example_equals_the_reviews_output(tmp_path: Path) -> None:
    make_example(tmp_path)

    for name in (*FORMATS.values(), TERMINAL):
        assert (tmp_path / name).read_text() == (KEPT / name).read_text(), name


def own_program(folder: Path, stack: str, **config: Any) -> Path:
    """The program itself, with a stack file of the test's own."""
    folder.mkdir()
    real = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    real["plugins"]["providers"][0]["path"] = str(ROOT / "plugins" / "aks_preview")
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(real | {"main": str(ROOT)}))
    settings = {f"aks-gpu:{key}": value for key, value in config.items()}
    (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": settings}))
    return folder


def test_every_mistake_in_a_stack_file_is_reported_with_its_place(tmp_path: Path) -> None:
    pools = [{"name": "Gpu", "vmSize": "Standard_D2s_v3", "labels": {"a b/": "x"}}]
    project = own_program(
        tmp_path / "project", "bad", gpuPools=pools, nosuch=1, allowRetired="maybe", tags=["a"]
    )
    report = reviewed(
        tmp_path, "--project", str(project), "--stack", "bad", cause="stack-file-invalid"
    )

    (stack,) = report["stacks"]
    problems = stack["problems"]
    assert {(problem["key"], problem["line"]) for problem in problems} == {
        ("allowRetired", 2),
        ('gpuPools[0].labels["a b/"]', 5),
        ("gpuPools[0].name", 6),
        ("gpuPools[0].vmSize", 7),
        ("nosuch", 8),
        ("tags", 9),
    }
    assert stack["preflight"] is None


def test_a_refused_stack_file_waits_for_no_other_review(tmp_path: Path) -> None:
    """It took its turn, minutes later, although nothing was to be previewed."""
    project = own_program(tmp_path / "project", "bad", nosuch=1)
    (tmp_path / "build" / "review").mkdir(parents=True)
    with sole_use(tmp_path / "build" / "review", print):
        reviewed(tmp_path, "--project", str(project), "--stack", "bad", cause="stack-file-invalid")


@pytest.mark.nightly
def test_a_base_with_a_retired_size_accepts_changes_but_no_new_pool(tmp_path: Path) -> None:
    """Once the base counted as invalid: everything was new, and a pool that went was not told.

    A new pool with the retired image passed. And a stack file with secrets could not be
    reviewed at all.
    """
    old = {"name": "old", "vmSize": "Standard_NC6s_v3", "minCount": 0, "maxCount": 4}
    own = {"name": "own", "vmSize": "Standard_ND7_v9", "minCount": 0, "maxCount": 4}

    def write(*pools: dict[str, Any], encrypted: str = "v1:abc") -> None:
        secret = {"secure": encrypted}
        content: dict[str, Any] = {
            "config": {
                "aks-gpu:gpuPools": [*pools],
                "aks-gpu:gpuOperator": {"values": {"team": secret}},
            }
        }
        content["config"] |= {"azure-native:clientSecret": secret}
        (project / "Pulumi.old.yaml").write_text(yaml.safe_dump(content))

    project = own_program(tmp_path / "project", "old")
    write(old, own)
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "base")
    where = ("--project", str(project), "--base", "HEAD", "--stack", "old")

    write(old | {"maxCount": 1}, own | {"maxCount": 1})
    (stack,) = reviewed(tmp_path, *where, cause="fine")["stacks"]
    assert names_of(stack, "update") == ["old", "own"]
    assert {finding["rule"] for finding in stack["findings"]} >= {"gpu-size-retired"}

    write(old | {"vmSize": "Standard_NC12s_v3"}, own, encrypted="v1:def")
    (stack,) = reviewed(tmp_path, *where, cause="rule-broken")["stacks"]
    assert [lost["pool"] for lost in stack["lost"]] == ["old"]
    (refused,) = [finding for finding in stack["findings"] if finding["mandatory"]]
    assert (refused["rule"], refused["resource"]["name"]) == ("gpu-size-retired", "old")

    specialized = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "image": "specialized"}
    write(old, own, specialized)
    (stack,) = reviewed(tmp_path, *where, cause="rule-broken")["stacks"]
    (refused,) = [finding for finding in stack["findings"] if finding["mandatory"]]
    assert (refused["rule"], refused["resource"]["name"]) == ("gpu-image-retired", "gpu")


@pytest.mark.long
def test_a_stack_in_a_group_of_others_is_reviewed(tmp_path: Path) -> None:
    """Where identities are for a group, it is made before: the review of each change failed."""
    theirs = {"name": "theirs", "existing": True}
    pool = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "minCount": 0, "maxCount": 1}
    project = own_program(tmp_path / "project", "dev", resourceGroup=theirs, gpuPools=[pool])
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "base")
    file = project / "Pulumi.dev.yaml"
    file.write_text(file.read_text().replace("maxCount: 1", "maxCount: 2"))

    where = ("--project", str(project), "--base", "HEAD", "--stack", "dev")
    (stack,) = reviewed(tmp_path, *where, cause="fine")["stacks"]

    assert names_of(stack, "update") == ["gpu"]
    assert names_of(stack, "create") == []


@pytest.mark.long
@pytest.mark.nightly
def test_a_change_of_rules_is_reported(tmp_path: Path) -> None:
    """A configuration that switched the pack off passed."""
    gpu = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "minCount": 0, "maxCount": 4}
    small = {"name": "small", "vmSize": "Standard_NV6ads_A10_v5", "minCount": 0, "maxCount": 1}
    project = own_program(tmp_path / "project", "old", gpuPools=[gpu])
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "base")
    where = ("--project", str(project), "--base", "HEAD", "--stack", "old")
    stack_file, configuration = project / "Pulumi.old.yaml", project / "Pulumi.old.policies.json"

    stack_file.write_text(yaml.safe_dump({"config": {"aks-gpu:gpuPools": [gpu, small]}}))
    configuration.write_text(json.dumps({"all": "disabled"}))
    (stack,) = reviewed(tmp_path, *where, cause="rule-broken")["stacks"]
    change = {"what": "all", "before": "not configured", "after": '"disabled"'}
    changes = stack["policyChanges"]
    assert changes["changes"] == [change]
    assert (changes["allowance"], changes["applied"]) == ("policies:old", False)

    misspelt = ("--allow", "delete:old/gqu")
    (stack,) = reviewed(tmp_path, *where, "--allow", "policies:old", *misspelt, cause="fine")[
        "stacks"
    ]
    assert stack["policyChanges"]["applied"]
    assert stack["notes"] == ["--allow delete:old/gqu allows nothing that this change does."]


@pytest.mark.long
def test_a_value_that_azure_would_refuse_fails_the_review(tmp_path: Path) -> None:
    pools = [{"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "minCount": 0, "maxCount": 2}]
    project = own_program(
        tmp_path / "project", "old", gpuPools=pools, cluster={"kubernetesVersion": "1.32"}
    )

    report = reviewed(tmp_path, "--project", str(project), "--stack", "old", cause="not-offered")

    (stack,) = report["stacks"]
    assert stack["preflight"]["cause"] == "not-offered"
    # The rehearsal's prices are made up.
    assert stack["preflight"]["costs"] is None
    # The preview says what it would do all the same.
    assert "gpu" in names_of(stack, "create")


@pytest.mark.long
def test_a_new_stack_file_is_reviewed_from_an_empty_base(
    tmp_path: Path, pull_request: Path
) -> None:
    where = ("--project", str(pull_request), "--base", "HEAD")
    stack_file = pull_request / f"Pulumi.{STACK}.yaml"
    pools = [{"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 1}]
    (pull_request / "Pulumi.new.yaml").write_text(
        yaml.safe_dump({"config": {"batch:pools": pools}})
    )
    # This one was no YAML in the base.
    stack_file.write_text("config: [")
    git(pull_request, "commit", "--quiet", "--all", "--message", "broken")
    stack_file.write_text((pull_request / "Pulumi.new.yaml").read_text())

    report = reviewed(tmp_path, *where, "--stack", "new", "--stack", STACK, cause="fine")

    new, broken = report["stacks"]
    assert new["notes"] == ["HEAD has no Pulumi.new.yaml: everything is new."]
    assert "The base's stack file is not valid" in broken["notes"][0]
    for stack in (new, broken):
        assert names_of(stack, "create").count("gpu") == 1
        assert stack["unchanged"] == 0


@pytest.mark.long
def test_a_base_that_cannot_be_deployed_fails_the_review(
    tmp_path: Path, pull_request: Path
) -> None:
    stack_file = pull_request / f"Pulumi.{STACK}.yaml"
    content = stack_file.read_text()
    # Azure does not take such a name.
    stack_file.write_text(content.replace("name: tests", "name: NOT-A-NAME"))
    git(pull_request, "commit", "--quiet", "--all", "--message", "a bad name")
    stack_file.write_text(content)

    where = ("--project", str(pull_request), "--base", "HEAD", "--stack", STACK)
    (stack,) = reviewed(tmp_path, *where, cause="preview-failed")["stacks"]

    (problem,) = stack["problems"]
    assert problem["cause"] == "preview-failed"
    assert "NOT-A-NAME" in problem["what"]


def test_a_missing_stack_file_is_reported_with_the_existing_ones(
    tmp_path: Path, pull_request: Path
) -> None:
    where = ("--project", str(pull_request))
    (stack,) = reviewed(tmp_path, *where, "--stack", "nosuch", cause="stack-missing")["stacks"]
    (problem,) = stack["problems"]
    assert problem["what"].endswith("Existing stack files: Pulumi.prod.yaml.")
    assert problem["advice"] == "name an existing stack"


@pytest.fixture
def under_way(tmp_path: Path) -> Iterator[cloud.Cloud]:
    """A rehearsal that somebody has under way in the same checkout."""
    running = cloud.start(tmp_path / ".rehearsal", time_scale=0.005)
    yield running
    cloud.stop(running.home)


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)]
)
def test_an_interrupted_review_reports_and_leaves_nothing(
    tmp_path: Path, pull_request: Path, under_way: cloud.Cloud, number: signal.Signals
) -> None:
    report = tmp_path / "report.md"
    where = ["--project", str(pull_request), "--stack", STACK, "--markdown", str(report)]
    # A program that does not come to its end by itself.
    reached = tmp_path / "reached"
    with (pull_request / "__main__.py").open("a") as program:
        program.write(f"\nimport time\nopen({str(reached)!r}, 'w')\ntime.sleep(300)\n")
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from aksgpu.main import main; main()",
            "review",
            "--offline",
            *where,
        ],
        env={**os.environ, "AKS_GPU_REHEARSAL_ROOT": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(reached.exists, "the program is at work")
        process.send_signal(number)
        output, complained = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()

    assert process.returncode == 130, output + complained
    assert "the review was interrupted" in report.read_text()
    assert "Traceback" not in complained
    assert left_of(tmp_path) == []
    assert len(clouds_of(tmp_path)) == 1
    until(lambda: not at_work_in(tmp_path), "nothing is at work any more")
    assert cloud.find(under_way.home) == under_way
