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
    found = facts.cluster
    row = _name(
        About("cluster", key="cluster.name"),
        f"the cluster {cluster.name} in {group.name}",
        found.id if isinstance(found, ExistingCluster) else found,
        facts,
        existing=cluster.existing,
    )
    if not isinstance(found, ExistingCluster):
        yield row
        return
    yield _trouble(found) if found.trouble and row.answer == "ok" else row
    if cluster.existing and found.location != settings.location:
        yield About("location", key="location").warning(
            f"the cluster is in {found.location}, and so will be its pools, not in "
            f"{settings.location}; all answers here are for {found.location}",
            f"say location: {found.location}",
        )
    for pool in pools:
        if pool.name in found.pools:
            about = About("name", pool.name, f"{pool.key}.name")
            pool_id = f"{found.id}/agentPools/{pool.name}"
            # The system pool is no resource of its own, and as much the stack's as the cluster.
            yield _name(
                about,
                f"a pool {pool.name} in this cluster",
                found.id if pool.key == "systemPool" else pool_id,
                facts,
                existing=False,
            )


def _name(
    about: About,
    what: str,
    found: str | Unanswered | None,
    facts: Facts,
    *,
    existing: bool,
) -> Row:
    if isinstance(found, Unanswered):
        return about.unknown(found.reason, f"is there {what}?", found.cause)
    if existing:
        return _should_be_there(about, what, is_there=found is not None)
    if found is None:
        return about.ok(f"{what} can be made: the name is free")
    return _is_there(about, what, found, facts)


def _should_be_there(about: About, what: str, *, is_there: bool) -> Row:
    if is_there:
        return about.ok(f"there is {what}")
    advice = "say another name, or leave existing: true out, and it is made"
    return about.problem(Cause.EXISTENCE, f"there is no such thing as {what}", advice)


def _is_there(about: About, what: str, found: str, facts: Facts) -> Row:
    if facts.owned is None:
        return about.warning(
            f"there is {what} already; whether it is this stack's own, its state would tell, "
            "which cannot be read here",
            "go on if it is this stack's own; if not, take another name, or say existing: true",
        )
    if found.lower() in facts.owned:
        return about.ok(f"there is {what}, and it is this stack's own")
    advice = "take another name, say existing: true to build on it, or import it into the stack"
    return about.problem(
        Cause.EXISTENCE, f"there is {what} already, and it is not this stack's", advice
    )


def _trouble(cluster: ExistingCluster) -> Row:
    about = About("cluster", key="cluster.name")
    what = f"the cluster is {cluster.trouble}, and takes no pools like that"
    advice = "`az aks start` starts one that is stopped; `az aks show` tells more of it"
    return about.problem(Cause.EXISTENCE, what, advice)
