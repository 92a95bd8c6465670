"""The policy pack; rules/__init__.py finds its rules."""

import sys
from pathlib import Path

# The engine runs this folder by its path. The catalogue and docs/policies.md are next to it.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi_policy import EnforcementLevel, PolicyPack

from aks_catalogue.address import REPOSITORY
from policies import organization
from policies.rules import RULES
from policies.sdk import extend

try:
    organization.inherit(RULES, organization.FILE.read_text(encoding="utf-8"))
except ValueError as error:
    sys.exit(f"{organization.FILE.name}: {error}.")
extend()
PolicyPack(
    name="aks-gpu-policies",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=list(RULES),
    # Pulumi Cloud shows these for a published pack.
    display_name="GPUs on AKS",
    description="Rules for GPU node pools on Azure Kubernetes Service",
    readme=Path(sys.path[0], "docs", "policies.md").read_text(encoding="utf-8"),
    provider="azure",
    tags=["aks", "azure", "gpu", "kubernetes"],
    repository=f"https://{REPOSITORY}",
)
