"""Whether the Kubernetes versions of a stack are offered in its region."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aks_catalogue.kubernetes import OFFICIAL
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

if TYPE_CHECKING:
    from azure.mgmt.containerservice.models import KubernetesVersion


def judge(settings: Settings, pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers for the cluster, and for each pool with another version than the cluster."""
    about, asked = About("version", key="cluster.kubernetesVersion"), _present(facts)
    if settings.cluster.existing:
        version = f", {asked}" if asked else ""
        yield about.ok(f"the pools use the version of the cluster{version}")
    else:
        own = settings.cluster.kubernetes_version or ""
        yield _answer(about, "the cluster", own, asked, facts, settings.cluster.support_plan)
        asked = own
    for planned in pools:
        desired = planned.pool.text("orchestratorVersion")
        if desired and not _is_of(asked, desired):
            about = About("version", planned.name, f"{planned.key}.kubernetesVersion")
            live = facts.pool(planned.name)
            names = ("currentOrchestratorVersion", "orchestratorVersion")
            actual = next(filter(None, map(live.text, names)), "") if live else ""
            plan = settings.cluster.support_plan
            yield _answer(about, "the pool", desired, actual, facts, plan)


def _present(facts: Facts) -> str:
    """The version of the cluster, if it exists."""
    found = facts.live
    version = found and (found.current_kubernetes_version or found.kubernetes_version)
    return str(version or "")


def _answer(
    about: About, what: str, desired: str, actual: str, facts: Facts, planned: str | None
) -> Row:
    if actual and desired and _is_of(actual, desired):
        return about.ok(f"{what} already has {actual}")
    if isinstance(facts.versions, Unanswered):
        advice = f"run `az aks get-versions --location {facts.location} --output table`"
        return about.unknown(facts.versions.reason, advice, facts.versions.cause)
    if not desired:
        default = next((str(each.version) for each in facts.versions if each.is_default), "")
        return about.ok(f"AKS uses its default{f', {default}' if default else ''}")
    plan = facts.live.support_plan if facts.live else None
    plans = {OFFICIAL, planned, plan}
    return _offered(about, desired, facts.versions, facts.location, plans=plans)


def _offered(
    about: About,
    desired: str,
    versions: "Sequence[KubernetesVersion]",
    here: str,
    plans: set[str | None],
) -> Row:
    official = [
        str(each.version) for each in versions if OFFICIAL in _plans(each) and not each.is_preview
    ]
    advice = f"use one of {', '.join(official)}, or remove the setting"
    version = next((each for each in versions if _is_of(desired, str(each.version))), None)
    what = ""
    if version is None:
        what = f"Kubernetes {desired} is not offered in {here}"
    elif desired not in (version.version, *(version.patch_versions or ())):
        patches = ", ".join(sorted(version.patch_versions or (), reverse=True))
        what = f"Kubernetes {desired} is not offered in {here}, only {patches}"
        advice = f"use one of these, or {version.version} for the newest"
    elif not plans.intersection(_plans(version)):
        what = f"Kubernetes {desired} is offered only with long-term support"
    if what or version is None:
        return about.problem(Cause.NOT_OFFERED, what, advice)
    if version.is_preview:
        return about.warning(f"Kubernetes {desired} is a preview in {here}", advice)
    return about.ok(f"Kubernetes {desired} is offered in {here}")


def _plans(version: "KubernetesVersion") -> Sequence[str]:
    return (version.capabilities and version.capabilities.support_plan) or ()


def _is_of(version: str, minor: str) -> bool:
    return version == minor or version.startswith(f"{minor}.")
