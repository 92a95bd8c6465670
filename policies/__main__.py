"""The policy pack. A new rule is a file beside this one and a line in the list below."""

import sys
from pathlib import Path

# The engine runs this folder by its path; the catalogue lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.gpu_pool_linux_only import gpu_pool_linux_only

PolicyPack(
    name="aks-gpu-policies",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[gpu_pool_linux_only],
)
