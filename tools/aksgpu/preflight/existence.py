"""Whether existing resources are there, and whether the names of new ones are free."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.preflight.facts import ExistingCluster, Facts, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings


def judge(settings: Settings, pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers about the resource group, the cluster and the pools."""
    group, cluster = settings.resource_group, settings.cluster
    yield _name(
        About("resource group", key="resourceGroup.name"),
        f"the resource group {group.name}",
        facts.group,
        facts,
        existing=group.existing,
    )
    present, about = facts.cluster, About("cluster", key="cluster.name")
    row = _name(
        about,
        f"the cluster {cluster.name} in {group.name}",
        present.id if isinstance(present, ExistingCluster) else present,
        facts,
        existing=cluster.existing,
    )
    if not isinstance(present, ExistingCluster):
        yield row
        return
    if present.trouble and row.answer == "ok":
        what = f"the cluster is {present.trouble}: no pool can be added"
        advice = "start a stopped cluster with `az aks start`; `az aks show` has its state"
        row = about.problem(Cause.EXISTENCE, what, advice)
    yield row
    if cluster.existing and present.location != settings.location:
        yield About("location", key="location").warning(
            f"the cluster and its pools are in {present.location}, not in "
            f"{settings.location}; all answers here are for {present.location}",
            f"set location: {present.location}",
        )
    for pool in pools:
        if pool.name in present.pools:
            about = About("name", pool.name, f"{pool.key}.name")
            # The system pool is part of the cluster's resource.
            is_resource = pool.key != "systemPool"
            identity = f"{present.id}/agentPools/{pool.name}" if is_resource else present.id
            what = f"the pool {pool.name} in this cluster"
            yield _name(about, what, identity, facts, existing=False)


def _name(
    about: About, what: str, identity: str | Unanswered | None, facts: Facts, *, existing: bool
) -> Row:
    if isinstance(identity, Unanswered):
        return about.unknown(identity.reason, f"check whether {what} exists", identity.cause)
    if existing and identity is None:
        advice = "set another name, or remove existing: true to create it"
        return about.problem(Cause.EXISTENCE, f"{what} does not exist", advice)
    if existing and identity is not None and identity.lower() in (facts.owned or ()):
        what = f"{what} belongs to this stack: with existing: true the stack would delete it"
        return about.problem(Cause.EXISTENCE, what, "remove existing: true")
    if existing:
        return about.ok(f"{what} exists")
    if identity is None:
        return about.ok(f"{what} can be created: the name is free")
    return _already_exists(about, what, identity, facts.owned)


def _already_exists(about: About, what: str, identity: str, owned: frozenset[str] | None) -> Row:
    if owned is None:
        return about.warning(
            f"{what} already exists. Whether this stack owns it is not known: "
            "the state of the stack cannot be read here",
            "continue if this stack owns it; otherwise use another name, or set existing: true",
        )
    if identity.lower() in owned:
        return about.ok(f"{what} exists, and belongs to this stack")
    advice = "use another name, set existing: true to build on it, or import it into the stack"
    what = f"{what} already exists, and does not belong to this stack"
    return about.problem(Cause.EXISTENCE, what, advice)
