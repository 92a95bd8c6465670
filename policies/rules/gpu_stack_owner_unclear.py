"""The GPU driver and device plugin of a pool clearly have one owner.

The rule finds pools for which `one-gpu-stack-owner` or `gpu-operator-coherent` is not certain, and
pools without a driver (`driver: None`, or a size on which AKS installs none) if nothing in the
stack installs one.
"""

from itertools import chain

from pulumi_policy import Severity

from policies.certainty import Certainty, Weighed, that_are
from policies.operators import unfit
from policies.owners import Owners, owners
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns


@StackRule(
    title="GPU driver and device plugin clearly have one owner",
    description="Each GPU node pool clearly has one owner of its driver and device plugin.",
    severity=Severity.HIGH,
    remedy="Bind the device plugin to the names of its pools by node affinity. Install a driver on "
    "pools without one, or set the rule's owner to who installs it.",
    tags=("gpu", "aks", "driver", "device-plugin"),
    settings={
        "owner": {
            "type": "string",
            "description": "Who installs the driver on pools without one, if nothing in this stack "
            "does.",
        }
    },
)
def gpu_stack_owner_unclear(
    members: Members, settings: Settings, unknowns: Unknowns
) -> StackFindings:
    def unclear(pool: Owners) -> list[Weighed]:
        weighed = [*pool.twice()]
        if pool.without_driver and not settings.get("owner"):
            message = (
                f"{pool.label} {pool.why_without_driver}, and nothing in this stack installs "
                "one, so pods cannot use its GPUs. Add the NVIDIA GPU Operator, "
                f"{pool.instead}or set the rule's owner to who installs it."
            )
            weighed.append((Certainty.POSSIBLE, message, pool.urn))
        return weighed

    weighed = unknowns.each(owners(members, unknowns), unclear)
    return that_are(Certainty.POSSIBLE, chain(weighed, unfit(members, unknowns)))
