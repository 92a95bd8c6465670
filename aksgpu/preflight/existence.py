"""Whether what should exist does, and whether the names of what is going to be made are free."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.wanted import WantedPool
from settings import Settings


def judge(settings: Settings, pools: Sequence[WantedPool], facts: Facts) -> Iterator[Row]:
    """Whether what should exist does, and what is going to be made does not."""
    group, cluster = settings.resource_group, settings.cluster
    yield _name(
        About("resource group", key="resourceGroup.name"),
        f"the resource group {group.name}",
        facts.group,
        facts,
        existing=group.existing,
    )
    found, about = facts.cluster, About("cluster", key="cluster.name")
    row = _name(
        about,
        f"the cluster {cluster.name} in {group.name}",
        found.id if isinstance(found, ExistingCluster) else found,
        facts,
        existing=cluster.existing,
    )
    if not isinstance(found, ExistingCluster):
        yield row
        return
    if found.trouble and row.answer == "ok":
        what = f"the cluster is {found.trouble}, and takes no pools like that"
        advice = "`az aks start` starts one that is stopped; `az aks show` tells more of it"
        row = about.problem(Cause.EXISTENCE, what, advice)
    yield row
    if cluster.existing and found.location != settings.location:
        yield About("location", key="location").warning(
            f"the cluster is in {found.location}, and so will be its pools, not in "
            f"{settings.location}; all answers here are for {found.location}",
            f"say location: {found.location}",
        )
    for pool in pools:
        if pool.name in found.pools:
            about = About("name", pool.name, f"{pool.key}.name")
            # The system pool is no resource of its own, and as much the stack's as the cluster.
            is_own = pool.key != "systemPool"
            identity = f"{found.id}/agentPools/{pool.name}" if is_own else found.id
            what = f"a pool {pool.name} in this cluster"
            yield _name(about, what, identity, facts, existing=False)


def _name(
    about: About, what: str, found: str | Unanswered | None, facts: Facts, *, existing: bool
) -> Row:
    if isinstance(found, Unanswered):
        return about.unknown(found.reason, f"is there {what}?", found.cause)
    if existing and found is None:
        advice = "say another name, or leave existing: true out, and it is made"
        return about.problem(Cause.EXISTENCE, f"there is no such thing as {what}", advice)
    if existing and found is not None and found.lower() in (facts.owned or ()):
        what = f"{what} is this stack's own: with existing: true the stack would delete it"
        return about.problem(Cause.EXISTENCE, what, "leave existing: true out")
    if existing:
        return about.ok(f"there is {what}")
    if found is None:
        return about.ok(f"{what} can be made: the name is free")
    return _is_taken(about, what, found, facts.owned)


def _is_taken(about: About, what: str, found: str, owned: frozenset[str] | None) -> Row:
    if owned is None:
        return about.warning(
            f"there is {what} already; whether it is this stack's own, its state would tell, "
            "which cannot be read here",
            "go on if it is this stack's own; if not, take another name, or say existing: true",
        )
    if found.lower() in owned:
        return about.ok(f"there is {what}, and it is this stack's own")
    advice = "take another name, say existing: true to build on it, or import it into the stack"
    what = f"there is {what} already, and it is not this stack's"
    return about.problem(Cause.EXISTENCE, what, advice)
