"""What the containers of the article's sample say, and how they end."""

import hashlib
import math
from collections.abc import Iterable
from typing import Any

from catalogue.device_plugin import PREFIX
from catalogue.images import CUDA_MISMATCH
from rehearsal.control_planes import gpus, nodes, sizes
from rehearsal.control_planes.containers import Line, Run
from rehearsal.control_planes.wanted import WantedPool

Json = dict[str, Any]

# In seconds at time scale 1: until TensorFlow has found its device, and for each of its steps.
STARTUP = 1.0
SECONDS_PER_STEP = 0.01

DEFAULT_STEPS = 1000
STEPS_BETWEEN_LINES = 10


def run(pod: Json, container: Json, pool: WantedPool, time_scale: float) -> Run:
    """One run of the sample's container, from beginning to end."""
    found = sizes.gpus(pool.vm_size)
    is_nvidia = found is not None and found.vendor == nodes.NVIDIA
    if is_nvidia and not pool.has_driver:
        return Run([Line(0.0, _opened("libcuda.so.1")), *_failure(time_scale)], 1)
    lines = [Line(0.0, _opened("libcudnn, libcufft, libcurand"))]
    if found is not None and is_nvidia:
        lines += _device_lines(found, pool, container, STARTUP * time_scale)
    else:
        text = "no supported GPU on this node: every operation goes to the CPU"
        lines.append(Line(STARTUP * time_scale, f"I tensorflow: {text}"))
    steps, began = _steps(container), STARTUP * time_scale
    for step in range(0, steps, STEPS_BETWEEN_LINES):
        after = began + step * SECONDS_PER_STEP * time_scale
        accuracy = _accuracy(step, pod["metadata"]["uid"])
        lines.append(Line(after, f"Accuracy at step {step}: {accuracy:.4f}"))
    end = began + steps * SECONDS_PER_STEP * time_scale
    return Run([*lines, Line(end, f"Done after {steps} steps.")], 0)


def _device_lines(found: sizes.Gpus, pool: WantedPool, container: Json, after: float) -> list[Line]:
    """What TensorFlow says of each device, in the form that it has."""
    limits = container.get("resources", {}).get("limits", {})
    asked = [int(count) for name, count in limits.items() if name.startswith(PREFIX)]
    hardware = gpus.hardware(pool)
    # Without a limit the container gets to see all of the node's devices.
    count = sum(asked) if asked else gpus.devices(hardware)
    part = f" MIG {hardware.slices.profile}" if hardware.slices else ""
    lines = []
    for number in range(count):
        lines += [
            f"I tensorflow/core/common_runtime/gpu: Found device {number} with properties:"
            f" name: {found.model}{part}",
            f"totalMemory: {found.gibibytes:.2f}GiB pciBusID: {number + 1:04x}:00:00.0",
        ]
    placed = ", ".join(f"/gpu:{number}" for number in range(count))
    lines.append(f"I tensorflow/core/common_runtime/gpu: Adding visible devices: {placed}")
    return [Line(after, line) for line in lines]


def _failure(time_scale: float) -> Iterable[Line]:
    after = STARTUP * time_scale
    yield Line(after, "E tensorflow/stream_executor/cuda: cuInit did not succeed on this node")
    yield Line(after, f"InternalError: cudaGetDevice() failed. Status: {CUDA_MISMATCH}")


def _opened(libraries: str) -> str:
    return f"I tensorflow/stream_executor: looked for the CUDA libraries {libraries}"


def _steps(container: Json) -> int:
    words = [*container.get("command", ()), *container.get("args", ())]
    joined = " ".join(words).replace("=", " ").split()
    if "--max_steps" in joined[:-1]:
        number = joined[joined.index("--max_steps") + 1]
        if number.isdigit():
            return int(number)
    return DEFAULT_STEPS


def _accuracy(step: int, seed: str) -> float:
    """A curve as MNIST has it: from a tenth to nearly one, with a little noise of the pod's own."""
    noise = int(hashlib.sha256(f"{seed} {step}".encode()).hexdigest()[:4], 16) / 65535
    learnt = 1 - math.exp(-step / 60)
    return min(0.99, 0.1 + 0.86 * learnt + 0.02 * noise * learnt)
