"""What the sample's log tells, in the forms that it has had."""

import pytest

from aksgpu.check.job import JobLog

# As TensorFlow writes it: a device's properties stand in lines of their own.
OF_TENSORFLOW = """\
I tensorflow/core/common_runtime/gpu/gpu_device.cc:1030] Found device 0 with properties:
name: Tesla K80 major: 3 minor: 7 memoryClockRate(GHz): 0.8235
pciBusID: 2fd7:00:00.0
totalMemory: 11.17GiB freeMemory: 11.10GiB
I tensorflow/core/common_runtime/gpu/gpu_device.cc:1030] Found device 1 with properties:
name: Tesla V100-PCIE-16GB major: 7 minor: 0
Accuracy at step 0: 0.1081
Adding run metadata for 99
Accuracy at step 490: 0.9494
"""


def test_a_log_names_its_devices_and_last_step() -> None:
    log = JobLog.parse(OF_TENSORFLOW)
    assert log.devices == ("Tesla K80", "Tesla V100-PCIE-16GB")
    assert (log.step, log.accuracy) == (490, 0.9494)
    assert not log.is_cuda_mismatch


@pytest.mark.parametrize("line", ["step 490: 0.9.4", "step 490: .", f"step {'9' * 5000}: 0.9"])
def test_a_line_of_a_broken_form_tells_no_step(line: str) -> None:
    log = JobLog.parse(f"Accuracy at step 480: 0.9\nAccuracy at {line}\n")
    assert (log.step, log.accuracy) == (480, 0.9)


def test_a_device_on_one_log_line_is_read() -> None:
    log = JobLog.parse("I gpu: Found device 0 with properties: name: A100 MIG 1g\nmore\n")
    assert log.devices == ("A100 MIG 1g",)
    assert log.step is None


def test_the_articles_message_is_read_as_a_cuda_mismatch() -> None:
    line = "InternalError: Status: CUDA driver version is insufficient for CUDA runtime version\n"
    assert JobLog.parse(line).is_cuda_mismatch


def test_the_log_of_nvidias_sample_shows_that_it_passed() -> None:
    """As the device plugin's README shows it; it names no device."""
    log = JobLog.parse("[Vector addition of 50000 elements]\nTest PASSED\nDone\n")
    assert log.has_used_gpu
    assert not log.devices
    assert not JobLog.parse("[Vector addition of 50000 elements]\n").has_used_gpu
