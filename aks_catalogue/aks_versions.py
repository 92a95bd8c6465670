"""The version of AKS's API that azure-native sends, and what only newer ones have.

To renew it after an update of pulumi-azure-native: the documentation of its ManagedCluster names
the version. If that version has MANAGED_GPUS, decision 49 says what ends.
"""

from datetime import date

# The date of these facts.
AS_OF = date(2026, 11, 22)
# A program with an SDK for another one is not ours.
AZURE_NATIVE = "2025-09-01"
# With this property of a pool, AKS manages its GPUs. It is in the API since 2026-08-01.
MANAGED_GPUS = "gpuProfile.nvidia.managementMode"
