"""Whether existing resources are there, and whether the names of new ones are free."""

from collections.abc import Iterator, Sequence

from aks_catalogue.regions import plain
from aksgpu.outcome import Cause
from aksgpu.preflight.facts import Facts, Unanswered
from aksgpu.preflight.requirements import PlannedPool
from aksgpu.preflight.rows import About, Row
from stack_settings.model import Settings

# The states in which a cluster accepts no new pools.
_TROUBLE = ("Stopped", "Deleting", "Failed")


def judge(settings: Settings, pools: Sequence[PlannedPool], facts: Facts) -> Iterator[Row]:
    """The answers about the resource group, the cluster and the pools."""
    group, cluster, present = settings.resource_group, settings.cluster, facts.present
    about, what = About("resource group", key="resourceGroup.name"), f"resource group {group.name}"
    yield _name(about, f"the {what}", facts.group, facts, existing=group.existing)
    about, what = About("cluster", key="cluster.name"), f"cluster {cluster.name} in {group.name}"
    known = str(present.id) if present else None
    there = facts.cluster if isinstance(facts.cluster, Unanswered) else known
    row = _name(about, f"the {what}", there, facts, existing=cluster.existing)
    if present is None or facts.live is None:
        yield row
        return
    power = facts.live.power_state
    is_stopped = power is not None and power.code == "Stopped"
    state = "Stopped" if is_stopped else str(facts.live.provisioning_state)
    if state in _TROUBLE and row.answer == "ok":
        what = f"the cluster is {state}: no pool can be added"
        advice = "start a stopped cluster with `az aks start`; `az aks show` has its state"
        row = about.problem(Cause.EXISTENCE, what, advice)
    yield row
    here = plain(str(present.location))
    if cluster.existing and here != settings.location:
        yield About("location", key="location").warning(
            f"the cluster and its pools are in {here}, not in {settings.location}; all answers "
            f"here are for {here}",
            f"set location: {here}",
        )
    names = {str(profile.name) for profile in facts.live.agent_pool_profiles or ()}
    for planned in pools:
        if planned.name in names:
            about = About("name", planned.name, f"{planned.key}.name")
            # The system pool is part of the cluster's resource.
            below = "" if planned.key == "systemPool" else f"/agentPools/{planned.name}"
            what = f"the pool {planned.name} in this cluster"
            yield _name(about, what, f"{present.id}{below}", facts, existing=False)


def _name(
    about: About, what: str, identity: str | Unanswered | None, facts: Facts, *, existing: bool
) -> Row:
    if isinstance(identity, Unanswered):
        return about.unknown(identity.reason, f"check whether {what} exists", identity.cause)
    is_own = identity is not None and identity.lower() in (facts.owned or ())
    if identity is None and existing:
        advice = "set another name, or remove existing: true to create it"
        return about.problem(Cause.EXISTENCE, f"{what} does not exist", advice)
    if identity is None:
        return about.ok(f"{what} can be created: the name is free")
    if existing and is_own:
        what = f"{what} belongs to this stack: with existing: true the stack would delete it"
        return about.problem(Cause.EXISTENCE, what, "remove existing: true")
    if existing or is_own:
        return about.ok(f"{what} exists{', and belongs to this stack' * is_own}")
    return _taken(about, what, is_readable=facts.owned is not None)


def _taken(about: About, what: str, *, is_readable: bool) -> Row:
    if not is_readable:
        return about.warning(
            f"{what} already exists. Whether this stack owns it is not known: "
            "the state of the stack cannot be read here",
            "continue if this stack owns it; otherwise use another name, or set existing: true",
        )
    advice = "use another name, set existing: true to build on it, or import it into the stack"
    what = f"{what} already exists, and does not belong to this stack"
    return about.problem(Cause.EXISTENCE, what, advice)
