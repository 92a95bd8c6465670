"""Container images, and the retired specialized node image.

To renew them: take the newest tags of mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin, as AKS's
page on GPUs has it, and of nvcr.io/nvidia/k8s/cuda-sample. Then AS_OF.
"""

from datetime import date

from aks_catalogue.headers import HEADERS, SPECIALIZED_IMAGE

# The date of these facts.
AS_OF = date(2026, 11, 21)

DEVICE_PLUGIN = "mcr.microsoft.com/oss/v2/nvidia/k8s-device-plugin:v0.18.2"
# The article's image.
ARTICLE_DEVICE_PLUGIN = "mcr.microsoft.com/oss/nvidia/k8s-device-plugin:1.11"

SAMPLE_JOB = "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
# NVIDIA's sample, which the device plugin's README runs.
VECTOR_ADD = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"
# AMD's tools, with which its GPU operator's documentation and AKS's lab on MI300X look for GPUs.
AMD_SMI = "docker.io/rocm/rocm-terminal:latest"
# The sample job's message if the driver is missing or too old.
CUDA_MISMATCH = "CUDA driver version is insufficient for CUDA runtime version"

# The preview feature of the specialized image.
SPECIALIZED_IMAGE_NAMESPACE = "Microsoft.ContainerService"
SPECIALIZED_IMAGE_FEATURE = "GPUDedicatedVHDPreview"
SPECIALIZED_IMAGE_RETIRED_ON = HEADERS[SPECIALIZED_IMAGE.lower()].retired_on or date.max
