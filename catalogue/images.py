"""Container images, and the specialized node image of the article's days."""

from datetime import date

# When the facts here were true.
AS_OF = date(2026, 11, 21)

DEVICE_PLUGIN = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
# As the article has it.
ARTICLE_DEVICE_PLUGIN = "mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11"

SAMPLE_JOB = "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
# What the sample job says of a driver that is too old or missing.
CUDA_MISMATCH = "CUDA driver version is insufficient for CUDA runtime version"

# The preview feature that the specialized image was behind.
SPECIALIZED_IMAGE_NAMESPACE = "Microsoft.ContainerService"
SPECIALIZED_IMAGE_FEATURE = "GPUDedicatedVHDPreview"
SPECIALIZED_IMAGE_RETIRED_ON = date(2025, 1, 10)
