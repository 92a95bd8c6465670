"""Driver and device plugin of a GPU pool may have two owners, or none.

The rule finds pools for which `one-gpu-stack-owner` is not certain, and pools without a driver
(`driver: None`, or a size for which AKS has none) if nothing in the stack installs one.
"""

from pulumi_policy import Severity

from policies.certainty import Certainty, Weighed, that_are
from policies.owners import Owners, owners
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="Driver and device plugin have an owner, clearly",
    description="Each GPU node pool has one owner of its driver and device plugin, in this stack.",
    severity=Severity.HIGH,
    remedy="Bind the device plugin to the pools that it is for, by node affinity to their names; "
    "let somebody bring the driver, or name in the rule's owner who does.",
    tags=("gpu", "aks", "driver", "device-plugin"),
    settings={
        "owner": {
            "type": "string",
            "description": "Who brings the driver to pools that are made without one, where "
            "it is nothing in this stack.",
        }
    },
)
def gpu_stack_owner_unclear(
    members: Members, settings: Settings, unknowns: Unknowns
) -> StackFindings:
    def unclear(found: Owners) -> list[Weighed]:
        weighed = [*found.twice()]
        if found.without_driver and not settings.get("owner"):
            message = (
                f"{found.label} {found.why_without_driver}, and nothing in this stack brings one. "
                "Its GPUs cannot be used until somebody does: add NVIDIA's GPU Operator, "
                f"{found.instead}or name in the rule's owner who brings it."
            )
            weighed.append((Certainty.POSSIBLE, message, found.urn))
        return weighed

    return that_are(Certainty.POSSIBLE, unknowns.each(owners(members, unknowns), unclear))
