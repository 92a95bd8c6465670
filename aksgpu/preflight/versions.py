"""Whether the Kubernetes version of a stack is offered in its region."""

from collections.abc import Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered, Version
from aksgpu.preflight.rows import About, Row
from settings import Settings

_ABOUT = About("version", key="cluster.kubernetesVersion")


def judge(settings: Settings, facts: Facts) -> Row:
    """The answer for the cluster; pools take its version."""
    said = settings.cluster.kubernetes_version
    there = facts.cluster.version if isinstance(facts.cluster, ExistingCluster) else ""
    if settings.cluster.existing:
        known = f", {there}" if there else ""
        return _ABOUT.ok(f"the pools take the version of the cluster{known}")
    if there and said and _is_of(there, said):
        return _ABOUT.ok(f"the cluster has {there} already")
    if isinstance(facts.versions, Unanswered):
        advice = f"`az aks get-versions --location {facts.location} --output table` tells"
        return _ABOUT.unknown(facts.versions.reason, advice, facts.versions.cause)
    if not said:
        default = next((one.minor for one in facts.versions if one.is_default), "")
        return _ABOUT.ok(f"AKS takes its own default{f', {default}' if default else ''}")
    return _offered(said, facts.versions, facts.location)


def _offered(said: str, versions: Sequence[Version], here: str) -> Row:
    official = [one.minor for one in versions if one.is_official and not one.is_preview]
    advice = f"take one of {', '.join(official)}, or leave it out"
    found = next((one for one in versions if _is_of(said, one.minor)), None)
    what = ""
    if found is None:
        what = f"Kubernetes {said} is not offered in {here}"
    elif said not in (found.minor, *found.patches):
        patches = ", ".join(sorted(found.patches, reverse=True))
        what = f"of Kubernetes {found.minor} only {patches} are offered in {here}, not {said}"
        advice = f"take one of these, or {found.minor} for the newest of them"
    elif not found.is_official:
        what = f"Kubernetes {said} is offered with long-term support only, which is not asked for"
    if what or found is None:
        return _ABOUT.problem(Cause.VERSION_NOT_OFFERED, what, advice)
    if found.is_preview:
        return _ABOUT.warning(f"Kubernetes {said} is a preview in {here}", advice)
    return _ABOUT.ok(f"Kubernetes {said} is offered in {here}")


def _is_of(version: str, minor: str) -> bool:
    return version == minor or version.startswith(f"{minor}.")
