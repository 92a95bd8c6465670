"""What the sample job's log tells."""

import re
from dataclasses import dataclass

from catalogue.images import CUDA_MISMATCH

# TensorFlow goes on with more of the device's properties, in the same line or in the next.
_DEVICE = re.compile(r"Found device \d+ with properties:\s*name: (.+?)(?= major: |\s*$)", re.M)
_ACCURACY = re.compile(r"Accuracy at step (\d+): ([0-9.]+)")


@dataclass(frozen=True)
class JobLog:
    """The devices found, and the last step with its accuracy."""

    devices: tuple[str, ...]
    step: int | None
    accuracy: float | None
    is_cuda_mismatch: bool


def read(text: str) -> JobLog:
    steps = _ACCURACY.findall(text)
    step, accuracy = steps[-1] if steps else (None, None)
    return JobLog(
        devices=tuple(_DEVICE.findall(text)),
        step=int(step) if step else None,
        accuracy=float(accuracy) if accuracy else None,
        is_cuda_mismatch=CUDA_MISMATCH in text,
    )
