"""Whatever a pod asks of the article's sample: it gets a log of a length that the node can keep."""

import pytest

from rehearsal.control_planes import sample_job
from rehearsal.control_planes.desired_state import DesiredPool

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
    first, *steps, last = (line.text for line in sample_job.run(SAMPLE, POOL, 1.0).lines)
    assert first.startswith("I gpu_device.cc: Found device 0")
    assert len(steps) == 50
    assert steps[0].startswith("Accuracy at step 0: 0.1")
    assert last == "Done after 500 steps."


@pytest.mark.parametrize("steps", ["999999999", "9" * 5000, "\u00b2", "-1", "", "many"])
def test_the_log_of_odd_steps_has_a_bound(steps: str) -> None:
    """A billion steps filled the memory; with a superscript 2 the pod never ran."""
    run = sample_job.run({**SAMPLE, "args": ["--max_steps", steps]}, POOL, 1.0)
    assert len(run.lines) < 2 * sample_job.MOST_STEP_LINES
    assert run.exit_code == 0


def test_a_thousand_shared_gpus_can_be_asked_for_in_thousands() -> None:
    run = sample_job.run({"resources": {"limits": {"nvidia.com/gpu": "1k"}}}, POOL, 1.0)
    assert sum("Found device" in line.text for line in run.lines) == 1000
