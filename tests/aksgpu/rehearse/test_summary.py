"""The last screen of a rehearsal: a problem stands last, with its remedy."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aksgpu.check.examination import Examination
from aksgpu.check.job import SampleJob
from aksgpu.outcome import Cause, Finding
from aksgpu.rehearse import summary
from aksgpu.report import ReportConsole

CLUSTERS = [
    {
        "name": "aks",
        "storedOnly": ["autoScalerProfile"],
        "pools": [{"name": "gpu", "storedOnly": []}],
    }
]
MISSING = Finding(Cause.NODES_MISSING, "pool gpu: the pool has no nodes", "start the pool")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("aksgpu.rehearse.inventory.resources", lambda *_: [])
    monkeypatch.setattr(summary, "_cost", lambda *_: "1 USD an hour")
    monkeypatch.setattr(
        summary, "status_of", lambda _: SimpleNamespace(clusters=CLUSTERS, stored_types=[])
    )
    monkeypatch.setattr(
        summary, "of_resources", lambda *_: SimpleNamespace(kubeconfig="config", environment={})
    )

    def shown(checked: Examination) -> tuple[int, list[str]]:
        monkeypatch.setattr(summary, "examine_cluster", lambda *_: checked)
        stage = SimpleNamespace(
            cloud=SimpleNamespace(request_log=Path("requests.jsonl"), home=Path("home")),
            pulumi=lambda: SimpleNamespace(environment={}),
        )
        page = io.StringIO()
        code = summary.show(
            cast("Any", stage),
            cast("Any", SimpleNamespace(stack="dev")),
            cast("Any", SimpleNamespace(resources=[])),
            "eval",
            ReportConsole(file=page, width=500),
            with_job=True,
        )
        return code, page.getvalue().splitlines()

    return shown


def job(*, has_succeeded: bool, log: str = "Step") -> SampleJob:
    """A job that printed a line."""
    ended = SampleJob(cast("Any", None), {}, cast("Any", None))
    ended.log, ended.has_succeeded = log, has_succeeded
    return ended


def test_a_problem_stands_last_without_the_log_of_a_good_job(screen: Any) -> None:
    """It stood above the log of a job that had succeeded, and the advice was to look around."""
    code, lines = screen(Examination(findings=[MISSING], job=job(has_succeeded=True)))
    assert code == 1
    assert lines[-2:] == ["nodes-missing: pool gpu: the pool has no nodes", "  -> start the pool"]
    assert "Stored, not simulated: autoScalerProfile of cluster aks." in lines
    assert not any("Step" in line or "look at the cluster" in line for line in lines)


def test_the_screen_names_the_page_that_shows_it_live(screen: Any) -> None:
    _, lines = screen(Examination(findings=[MISSING], job=job(has_succeeded=True)))
    assert "Page:   .venv/bin/aksgpu dashboard shows it live" in lines


def test_the_log_of_a_failed_job_is_shown(screen: Any) -> None:
    _, lines = screen(Examination(findings=[MISSING], job=job(has_succeeded=False)))
    assert any("Step" in line for line in lines)
    assert lines[-1] == "  -> start the pool"


def test_a_job_without_a_log_has_no_heading_for_it(screen: Any) -> None:
    """A pod that never started had "The log of the job", and nothing below."""
    _, lines = screen(Examination(findings=[MISSING], job=job(has_succeeded=False, log="")))
    assert not any("The log of the job" in line for line in lines)
    assert any(line.startswith("Job: ") for line in lines)


NO_GPUS = Finding(Cause.NO_GPU_POOL, "the cluster has no node with an NVIDIA GPU", "add a pool")


def test_a_program_of_others_without_gpus_ends_well(
    screen: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A cluster of CPUs that handed out its kubeconfig was a failed rehearsal, in CI for ever."""
    monkeypatch.setenv("AKS_GPU_PROJECT", str(tmp_path))
    code, lines = screen(Examination(findings=[NO_GPUS]))
    assert code == 0
    assert lines.count("GPUs:   the cluster has none, and no pool for them: nothing to check") == 1
    assert not any("no-gpu-pool" in line for line in lines)
    assert screen(Examination(findings=[MISSING]))[0] == 1


def test_our_program_without_a_gpu_pool_is_a_problem(screen: Any) -> None:
    code, lines = screen(Examination(findings=[NO_GPUS]))
    assert (code, lines[-1]) == (1, "  -> add a pool")
