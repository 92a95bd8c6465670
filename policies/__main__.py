"""The policy pack; its rules are listed in rules/__init__.py."""

import sys
from pathlib import Path

# The engine runs this folder by its path; the catalogue lies beside it.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.rules import RULES
from policies.sdk import convert_once, note_configuration

note_configuration()
convert_once()
PolicyPack(
    name="aks-gpu-policies", enforcement_level=EnforcementLevel.MANDATORY, policies=list(RULES)
)
