"""Kubernetes has a version that AKS supports.

The default is the oldest version with standard support. By default clusters with the support plan
`AKSLongTermSupport` may have every version that AKS supports under it, and so may pools, which do
not say what plan their cluster has. An existing cluster with an older version must still take
changes, so the rule only advises. A version that is left out passes: AKS chooses one.
"""

from pulumi_policy import ResourceValidationArgs

from aks_catalogue.kubernetes import LONG_TERM, OFFICIAL, ON_AKS, minor_version, written
from aks_pools.pools import is_cluster, pools_of
from aks_pools.values import text
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns


def _oldest(plan: str) -> str:
    """Returns the oldest version that AKS supports under a plan."""
    versions = (minor_version(version) for version, known in ON_AKS.items() if plan in known.plans)
    return written(min(filter(None, versions)))


_MINIMUM, _LONG_TERM_MINIMUM = _oldest(OFFICIAL), _oldest(LONG_TERM)


@ResourceRule(
    remedy="Use a newer version of Kubernetes, or remove it to use the default of AKS.",
    tags=("aks", "version"),
    settings={
        "minimum": {
            "type": "string",
            "pattern": r"^\d+\.\d+$",
            "default": _MINIMUM,
            "description": "The lowest allowed version, such as 1.34.",
        }
    },
)
def kubernetes_minimum_version(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    least = settings["minimum"]
    # Where the plan is, or may be, long-term support.
    long_term = _LONG_TERM_MINIMUM if least == _MINIMUM else least
    if is_cluster(args.resource_type):
        with unknowns.deferred():
            version = text(args.props.get("kubernetesVersion"), "kubernetesVersion")
            has_plan = args.props.get("supportPlan") == LONG_TERM
            yield from _compared("This cluster", version, long_term if has_plan else least)
    yield from unknowns.each(
        pools_of(args.resource_type, args.props),
        lambda pool: _compared(pool.label, pool.text("orchestratorVersion"), long_term),
    )


def _compared(label: str, version: str, minimum: str) -> Findings:
    # Without a version AKS uses its default, which is newer, and it refuses what is none.
    minor, least = minor_version(version), minor_version(minimum)
    if minor and least and minor < least:
        yield f"{label} has Kubernetes {version}. Use {minimum} or newer."
