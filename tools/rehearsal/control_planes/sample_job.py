"""The logs and exit codes of the sample jobs: the article's, NVIDIA's vector addition, and the look
for GPUs that nobody asked for."""

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

from aks_catalogue.images import CUDA_MISMATCH
from aks_catalogue.sample_pod import LOOK, LOOKED
from aks_catalogue.sizes import find
from rehearsal.control_planes import gpus
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.desired_state import DesiredPool

Json = dict[str, Any]

# In seconds at time scale 1: until TensorFlow has found its device, and for each training step.
STARTUP = 1.0
SECONDS_PER_STEP = 0.01

# The log of NVIDIA's sample, and its words where it gets no GPU.
_ADDS = (
    "[Vector addition of 50000 elements]",
    "Copy input data from the host memory to the CUDA device",
    "CUDA kernel launch with 196 blocks of 256 threads",
    "Copy output data from the CUDA device to the host memory",
    "Test PASSED",
    "Done",
)
_CANNOT_ADD = "Failed to allocate device vector A (error code {})!"
_NO_DEVICE = "no CUDA-capable device is detected"

_STEPS = re.compile(r"[0-9]{1,9}")
DEFAULT_STEPS = 1000
STEPS_BETWEEN_LINES = 10
# The log of a longer training has fewer lines: all of it is held in memory.
MOST_STEP_LINES = 10_000


def run(container: Json, pool: DesiredPool, seen: int, time_scale: float) -> Run:
    """Returns one run of the job's container, which sees so many GPUs."""
    size = find(pool.vm_size)
    gpu_model = size.gpu_model if size and size.is_nvidia else ""
    if gpu_model and not seen:
        return Run([Line(STARTUP * time_scale, f"InternalError: Status: {CUDA_MISMATCH}")], 1)
    lines = list(_devices(gpu_model, pool, seen)) if gpu_model else ["No GPU: the CPU"]
    timed = [(0.0, line) for line in lines]
    steps = _steps(container)
    for step in range(0, steps, max(STEPS_BETWEEN_LINES, steps // MOST_STEP_LINES)):
        accuracy = 1 - 0.9 * math.exp(-step / 120)
        timed.append((step * SECONDS_PER_STEP, f"Accuracy at step {step}: {accuracy:.4f}"))
    timed.append((steps * SECONDS_PER_STEP, f"Done after {steps} steps."))
    return Run([Line((STARTUP + after) * time_scale, text) for after, text in timed], 0)


def run_vector_add(container: Json, pool: DesiredPool, seen: int, time_scale: float) -> Run:
    """Returns one run of NVIDIA's sample, or of the look for GPUs with its image."""
    if container.get("command") == [*LOOK]:
        # The slices of a GPU have its device file.
        files = [f"/dev/nvidia{number}" for number in range(min(seen, gpus.hardware(pool).gpus))]
        return Run([Line(STARTUP * time_scale, text) for text in (*files, LOOKED)], 0)
    if seen:
        return Run([Line(STARTUP * time_scale, text) for text in _ADDS], 0)
    size = find(pool.vm_size)
    why = CUDA_MISMATCH if size and size.is_nvidia else _NO_DEVICE
    lines = (_ADDS[0], _CANNOT_ADD.format(why))
    return Run([Line(STARTUP * time_scale, text) for text in lines], 1)


def _devices(gpu_model: str, pool: DesiredPool, seen: int) -> Iterator[str]:
    """Returns TensorFlow's log line for each device."""
    slices = gpus.hardware(pool).slices
    part = f" MIG {slices.profile}" if slices else ""
    for number in range(seen):
        yield f"I gpu_device.cc: Found device {number} with properties: name: {gpu_model}{part}"


def _steps(container: Json) -> int:
    words = " ".join([*container.get("command", ()), *container.get("args", ())])
    for name, value in itertools.pairwise(words.replace("=", " ").split()):
        if name == "--max_steps" and _STEPS.fullmatch(value):
            return int(value)
    return DEFAULT_STEPS
