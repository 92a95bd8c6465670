"""Kubernetes has a version that AKS supports.

The default is the oldest version that AKS supports, long-term support included. An existing cluster
with an older version must still take changes, so the rule only advises. A version that is left out
passes: AKS chooses one.
"""

from pulumi_policy import ResourceValidationArgs

from catalogue.kubernetes import ON_AKS, minor_version, written
from policies.pools import is_cluster, pools_of
from policies.rule import Findings, ResourceRule, Settings
from policies.unknowns import Unknowns

# Older versions get no security fixes under any support plan.
_LOWEST = min(filter(None, map(minor_version, ON_AKS)))


@ResourceRule(
    title="Kubernetes has a minimum version",
    description="Clusters and pools run a version of Kubernetes that AKS still supports.",
    remedy="Use a newer version of Kubernetes, or remove it to use the default of AKS.",
    tags=("aks", "version"),
    settings={
        "minimum": {
            "type": "string",
            "pattern": r"^\d+\.\d+$",
            "default": written(_LOWEST),
            "description": "The lowest allowed version, such as 1.34.",
        }
    },
)
def kubernetes_minimum_version(
    args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
) -> Findings:
    if is_cluster(args.resource_type):
        with unknowns.deferred():
            version = str(args.props.get("kubernetesVersion") or "")
            yield from _compared("This cluster", version, settings)
    yield from unknowns.each(
        pools_of(args.resource_type, args.props),
        lambda pool: _compared(pool.label, pool.get("orchestratorVersion"), settings),
    )


def _compared(label: str, version: str, settings: Settings) -> Findings:
    # Without a version AKS uses its default, which is newer.
    if not version:
        return
    minor, least = minor_version(version), minor_version(settings["minimum"])
    if minor is None:
        yield f"{label} has the invalid version {version!r}. Use the form 1.35 or 1.35.2."
    elif least and minor < least:
        yield f"{label} has Kubernetes {version}. Use {settings['minimum']} or newer."
