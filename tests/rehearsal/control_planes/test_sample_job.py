"""Whatever a pod asks of the article's sample: it gets a log of a length that the node can keep."""

import shlex

import pytest

from aks_catalogue.images import CUDA_MISMATCH, VECTOR_ADD
from aks_catalogue.sample_pod import LOOK, LOOKED
from rehearsal.control_planes import sample_job
from rehearsal.control_planes.desired_state import DesiredPool
from tests.bench import ROOT

POOL = DesiredPool(
    id="p",
    name="gpu",
    vm_size="Standard_NC4as_T4_v3",
    count=1,
    version="1.36.1",
    has_driver=True,
    brings_plugin=True,
)
SAMPLE = {"args": ["--max_steps", "500"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}


def test_the_log_has_the_device_and_a_line_every_ten_steps() -> None:
    first, *steps, last = (line.text for line in sample_job.run(SAMPLE, POOL, 1, 1.0).lines)
    assert first.startswith("I gpu_device.cc: Found device 0")
    assert len(steps) == 50
    assert steps[0].startswith("Accuracy at step 0: 0.1")
    assert last == "Done after 500 steps."


@pytest.mark.parametrize("steps", ["999999999", "9" * 5000, "\u00b2", "-1", "", "many"])
def test_the_log_of_odd_steps_has_a_bound(steps: str) -> None:
    """A billion steps filled the memory; with a superscript 2 the pod never ran."""
    run = sample_job.run({**SAMPLE, "args": ["--max_steps", steps]}, POOL, 1, 1.0)
    assert len(run.lines) < 2 * sample_job.MOST_STEP_LINES
    assert run.exit_code == 0


def test_the_log_has_a_line_for_each_gpu_that_the_job_sees() -> None:
    run = sample_job.run(SAMPLE, POOL, 4, 1.0)
    assert sum("Found device" in line.text for line in run.lines) == 4


def test_without_a_gpu_both_samples_fail_with_cudas_message() -> None:
    """A container that asks for none finds no driver either: nobody mounts it."""
    for run in (sample_job.run(SAMPLE, POOL, 0, 1.0), sample_job.run_vector_add({}, POOL, 0, 1.0)):
        assert run.exit_code == 1
        assert CUDA_MISMATCH in run.lines[-1].text


def test_a_look_lists_device_files_and_says_that_it_looked() -> None:
    container = {"name": "look", "command": [*LOOK]}
    page = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8")
    assert f"--image={VECTOR_ADD}" in page
    assert f"--command -- {shlex.join(LOOK)}" in page
    run = sample_job.run_vector_add(container, POOL, 1, 1.0)
    assert [line.text for line in run.lines] == ["/dev/nvidia0", LOOKED]
    run = sample_job.run_vector_add(container, POOL, 0, 1.0)
    assert [line.text for line in run.lines] == [LOOKED]
