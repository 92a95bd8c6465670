"""Whether the Kubernetes versions of a stack are offered in its region."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered, Version
from aksgpu.preflight.rows import About, Row
from settings import GpuPool, Settings, SystemNodePool


def judge(settings: Settings, facts: Facts) -> Iterator[Row]:
    """The answers for the cluster, and for each pool whose version is not the cluster's."""
    cluster = settings.cluster.kubernetes_version
    there = facts.cluster if isinstance(facts.cluster, ExistingCluster) else None
    about = About("version", key="cluster.kubernetesVersion")
    if settings.cluster.existing:
        known = f", {there.version}" if there and there.version else ""
        yield about.ok(f"the pools take the version of the cluster{known}")
    else:
        yield _answer(about, "the cluster", cluster, there.version if there else "", facts)
    beside = there.version if settings.cluster.existing and there else cluster
    own: list[tuple[str, SystemNodePool | GpuPool]] = [
        *((f"systemPools[{at}]", one) for at, one in enumerate(settings.system_pools)),
        *((f"gpuPools[{at}]", one) for at, one in enumerate(settings.gpu_pools)),
    ]
    for key, pool in own:
        said = pool.kubernetes_version
        if not said or _is_of(beside, said):
            continue
        about = About("version", pool.name, f"{key}.kubernetesVersion")
        has = there.pools[pool.name].version if there and pool.name in there.pools else ""
        yield _answer(about, "the pool", said, has, facts)


def _answer(about: About, what: str, said: str, there: str, facts: Facts) -> Row:
    if there and said and _is_of(there, said):
        return about.ok(f"{what} has {there} already")
    if isinstance(facts.versions, Unanswered):
        advice = f"`az aks get-versions --location {facts.location} --output table` tells"
        return about.unknown(facts.versions.reason, advice, facts.versions.cause)
    if not said:
        default = next((one.minor for one in facts.versions if one.is_default), "")
        return about.ok(f"AKS takes its own default{f', {default}' if default else ''}")
    return _offered(about, said, facts.versions, facts.location)


def _offered(about: About, said: str, versions: Sequence[Version], here: str) -> Row:
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
        return about.problem(Cause.VERSION_NOT_OFFERED, what, advice)
    if found.is_preview:
        return about.warning(f"Kubernetes {said} is a preview in {here}", advice)
    return about.ok(f"Kubernetes {said} is offered in {here}")


def _is_of(version: str, minor: str) -> bool:
    return version == minor or version.startswith(f"{minor}.")
