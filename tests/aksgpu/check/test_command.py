"""The command itself: what ends it, what it leaves behind, and what it is given."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aksgpu.outcome import Cause
from tests.aksgpu.check.conftest import Site, jobs, silent_kubelets, use_the_gpu
from tests.bench import AKSGPU
from tests.checked import Checked
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.engine

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the command; what still runs at the end of the test is ended."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str | Path) -> subprocess.Popen[str]:
        command = subprocess.Popen(
            [AKSGPU, "check", *arguments],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "200", "AKS_GPU_REHEARSAL_ROOT": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(command)
        return command

    yield run
    for command in started:
        if command.poll() is None:
            command.kill()
        command.communicate()


def ended(command: subprocess.Popen[str]) -> Checked:
    output, progress = command.communicate(timeout=PATIENCE)
    assert "Traceback" not in progress
    return Checked(command.returncode, output, progress)


def started_job(site: Site) -> str:
    """The name of the pod of the job that a command has started."""
    [name] = until(lambda: jobs(site), "the job has a pod")
    return str(name)


@pytest.mark.long
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)]
)
def test_an_interrupted_check_deletes_its_job(site: Site, start: Start, number: int) -> None:
    use_the_gpu(site)
    command = start("--kubeconfig", site.kubeconfig, "--job", "--json")
    started_job(site)
    command.send_signal(number)
    checked = ended(command)
    assert checked.code == Cause.INTERRUPTED.exit_code == 130
    assert checked.document["cause"] == "interrupted"
    # What was found out before is not lost.
    assert checked.document["nodes"][0]["gpus"]["used"] == 1
    assert jobs(site) == []


@pytest.mark.long
def test_a_failed_job_is_reported(site: Site, start: Start) -> None:
    site.pool()
    site.cluster.install_plugin()
    assert site.check().code == 0
    with silent_kubelets(site):
        command = start("--kubeconfig", site.kubeconfig, "--job", "--json")
        pod = started_job(site)
        killed = {"exitCode": 137, "reason": "OOMKilled"}
        status: dict[str, Any] = {"name": "vectoradd", "ready": False}
        status |= {"image": "i", "imageID": "i", "restartCount": 0}
        status |= {"state": {"terminated": killed}}
        site.patch("pod", pod, {"phase": "Failed", "containerStatuses": [status]})
    problem = ended(command).only("job-failed")
    assert "failed: OOMKilled: exit code 137" in problem["what"]
    assert jobs(site) == []


@pytest.mark.long
def test_a_job_that_another_client_deletes_is_reported(site: Site, start: Start) -> None:
    use_the_gpu(site)
    command = start("--kubeconfig", site.kubeconfig, "--job", "--json")
    site.kubectl("delete", "pod", started_job(site), "-n", "default")
    causes = {problem["cause"]: problem for problem in ended(command).problems}
    assert "is gone" in causes["job-failed"]["what"]


def altered(site: Site, tmp_path: Path, part: str, **changes: Any) -> Path:
    """The cluster's kubeconfig, with something else in its cluster or its user."""
    config = yaml.safe_load(site.kubeconfig.read_text())
    config[f"{part}s"][0][part] |= changes
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


@pytest.mark.long
def test_an_unreachable_cluster_is_reported(site: Site, start: Start, tmp_path: Path) -> None:
    file = altered(site, tmp_path, "cluster", server="https://127.0.0.1:1")
    problem = ended(start("--kubeconfig", file, "--json")).only("cluster-unreachable")
    assert "127.0.0.1:1: connection refused" in problem["what"]


@pytest.mark.long
def test_refused_credentials_are_reported(site: Site, start: Start, tmp_path: Path) -> None:
    file = altered(site, tmp_path, "user", token="no-such-secret")
    config = yaml.safe_load(file.read_text())
    for name in ("client-certificate-data", "client-key-data"):
        del config["users"][0]["user"][name]
    file.write_text(yaml.safe_dump(config))
    checked = ended(start("--kubeconfig", file, "--json"))
    checked.only("credentials-refused")
    assert "no-such-secret" not in checked.printed + checked.progress


@pytest.mark.long
def test_progress_is_written_to_stderr(site: Site, start: Start) -> None:
    checked = ended(start("--kubeconfig", site.kubeconfig, "--json"))
    assert json.loads(checked.printed)["cause"] == "no-gpu-pool"
    assert "Checking the GPUs" in checked.progress


def test_a_stack_without_a_rehearsal_is_reported(start: Start, tmp_path: Path) -> None:
    problem = ended(start("--rehearsal", "--json")).only("cluster-unreachable")
    assert "has not been rehearsed" in problem["what"]
    assert "make rehearse STACK=dev" in problem["advice"]
    # And no cloud was started to find that out.
    assert list(tmp_path.iterdir()) == []


def test_rehearsal_and_kubeconfig_exclude_each_other(start: Start, tmp_path: Path) -> None:
    checked = ended(start("--rehearsal", "--kubeconfig", tmp_path / "kubeconfig"))
    assert checked.code == 2
    assert "omit --rehearsal" in checked.progress
