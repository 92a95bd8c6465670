"""Whether the Kubernetes versions of a stack are offered in its region."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered, Version
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings


def judge(settings: Settings, facts: Facts) -> Iterator[Row]:
    """The answers for the cluster, and for each pool with another version than the cluster."""
    cluster = settings.cluster.kubernetes_version or ""
    present = _cluster(facts)
    about = About("version", key="cluster.kubernetesVersion")
    if settings.cluster.existing:
        version = f", {present.version}" if present and present.version else ""
        yield about.ok(f"the pools use the version of the cluster{version}")
    else:
        actual = present.version if present else ""
        yield _answer(about, "the cluster", cluster, actual, facts)
    of_cluster = present.version if settings.cluster.existing and present else cluster
    for key, pool in settings.separate_pools:
        desired = pool.kubernetes_version
        if not desired or _is_of(of_cluster, desired):
            continue
        about = About("version", pool.name, f"{key}.kubernetesVersion")
        found = facts.pool(pool.name)
        yield _answer(about, "the pool", desired, found.version if found else "", facts)


def _answer(about: About, what: str, desired: str, actual: str, facts: Facts) -> Row:
    if actual and desired and _is_of(actual, desired):
        return about.ok(f"{what} already has {actual}")
    if isinstance(facts.versions, Unanswered):
        advice = (
            f"run `az aks get-versions --location {facts.location} --output table` to list "
            "the Kubernetes versions"
        )
        return about.unknown(facts.versions.reason, advice, facts.versions.cause)
    if not desired:
        default = next((version.minor for version in facts.versions if version.is_default), "")
        return about.ok(f"AKS uses its default{f', {default}' if default else ''}")
    present = _cluster(facts)
    has_long_term_support = present is not None and present.has_long_term_support
    return _offered(
        about, desired, facts.versions, facts.location, has_long_term_support=has_long_term_support
    )


def _cluster(facts: Facts) -> ExistingCluster | None:
    return facts.cluster if isinstance(facts.cluster, ExistingCluster) else None


def _offered(
    about: About,
    desired: str,
    versions: Sequence[Version],
    here: str,
    *,
    has_long_term_support: bool,
) -> Row:
    official = [each.minor for each in versions if each.is_official and not each.is_preview]
    advice = f"use one of {', '.join(official)}, or remove the setting"
    version = next((each for each in versions if _is_of(desired, each.minor)), None)
    what = ""
    if version is None:
        what = f"Kubernetes {desired} is not offered in {here}"
    elif desired not in (version.minor, *version.patches):
        patches = ", ".join(sorted(version.patches, reverse=True))
        what = f"Kubernetes {desired} is not offered in {here}, only {patches}"
        advice = f"use one of these, or {version.minor} for the newest"
    elif not (version.is_official or has_long_term_support):
        what = f"Kubernetes {desired} is offered only with long-term support"
    if what or version is None:
        return about.problem(Cause.VERSION_NOT_OFFERED, what, advice)
    if version.is_preview:
        return about.warning(f"Kubernetes {desired} is a preview in {here}", advice)
    return about.ok(f"Kubernetes {desired} is offered in {here}")


def _is_of(version: str, minor: str) -> bool:
    return version == minor or version.startswith(f"{minor}.")
