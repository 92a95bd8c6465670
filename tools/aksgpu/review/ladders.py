"""The ladders of a preview: what a change of rungs does to running jobs, and to money."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter

from pulumi.automation.events import StepEventStateMetadata
from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue import capacity
from aks_catalogue.shapes import at, mapping
from aksgpu.review.costs import Cluster, Lists, cluster_of, hourly, placed
from aksgpu.review.masking import clean
from aksgpu.review.model import Ladder, PoolChange, Resource, Rung
from aksgpu.review.preview_result import Step, inputs_of
from provider_kit.secrecy import MASK

_CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
_NOT_KNOWN = (UNKNOWN, MASK)
_BY_NAME = attrgetter("pool")

# A capacity: the cluster, None if that is not known, and the name.
_Capacity = tuple[Cluster | None, str]


def ladders(steps: Collection[Step], pools: Collection[PoolChange], lists: Lists) -> list[Ladder]:
    """The ladders before and after; `pools` have what happens to each pool.

    Those with a pool whose label is not known before the update are left out.
    """
    hidden = {step.resource for step in steps if None in (_name(step.old), _name(step.new))}
    before, after = (_ladders(steps, lists, was=was) for was in (True, False))
    changes = {change.resource: change for change in pools if change.before}
    goes_to = {rung.resource: name for (_, name), rungs in after.items() for rung in rungs}
    several = len({cluster for cluster, _ in (*before, *after)}) > 1
    found = []
    for own in sorted({*before, *after}, key=str):
        (cluster, name), old, new = own, before.get(own, []), after.get(own, [])
        if hidden & {rung.resource for rung in (*old, *new)}:
            continue
        is_ordered = _sort(old, steps, was=True) & _sort(new, steps, was=False)
        effects = [*_effects(name, old, new, changes, goes_to)]
        if not is_ordered:
            old.sort(key=_BY_NAME)
            new.sort(key=_BY_NAME)
            effects.append("the preview does not know the order of the rungs")
        elif _changes_order(old, new):
            effects.append(
                "the order changes: running jobs stay where they are, and only new nodes follow it"
            )
        found.append(
            Ladder(
                name=clean(f"{name} on {cluster[1]}" if several and cluster else name),
                before=old,
                after=new,
                is_ordered=is_ordered,
                effects=effects,
            )
        )
    return found


def _name(state: StepEventStateMetadata | None) -> str | None:
    """The capacity of a pool: empty if it has none, None if that is not known."""
    labels = inputs_of(state).get("nodeLabels")
    name = mapping(labels).get(capacity.LABEL, "")
    return None if labels in _NOT_KNOWN or name in _NOT_KNOWN else str(name)


def _ladders(steps: Collection[Step], lists: Lists, *, was: bool) -> dict[_Capacity, list[Rung]]:
    by_resource = {step.resource: step for step in steps}
    found: dict[_Capacity, list[Rung]] = defaultdict(list)
    for pool, region in placed(steps, was=was):
        step = by_resource[pool.resource]
        state, other = (step.old, step.new) if was else (step.new, step.old)
        own = inputs_of(state)
        if pool.may_have_gpus and (name := _name(state)):
            reserved = "reserved" if own.get("capacityReservationGroupID") else "regular"
            found[cluster_of(own) or cluster_of(inputs_of(other)), name].append(
                Rung(
                    resource=pool.resource,
                    pool=pool.name,
                    vm_size=pool.vm_size,
                    kind="spot" if pool.spot else reserved,
                    most=None if pool.nodes is None else int(pool.nodes.most),
                    hourly=hourly(pool, region, lists),
                )
            )
    return found


def _sort(rungs: list[Rung], steps: Collection[Step], *, was: bool) -> bool:
    """Sorts rungs as the autoscaler tries them; whether their order is known.

    It is not while a rung rotates, and where another stack has the priorities.
    """
    texts = {
        str(at(inputs, f"data.{capacity.KEY}"))
        for step in steps
        if step.resource.type == _CONFIG_MAP
        and at(inputs := inputs_of(step.old if was else step.new), "metadata.name")
        == capacity.CONFIG_MAP
    }
    # There is one for each cluster.
    own = [text for text in texts if all(_written(rung) in text for rung in rungs)]
    is_known = len(own) == 1 and UNKNOWN not in texts
    if is_known:
        rungs.sort(key=lambda rung: own[0].index(_written(rung)))
    return is_known or len(rungs) < 2


def _written(rung: Rung) -> str:
    """A rung in the text of the priorities."""
    return f'"^aks-{rung.pool}-"'


def _effects(
    name: str,
    before: Sequence[Rung],
    after: Sequence[Rung],
    changes: Mapping[Resource, PoolChange],
    goes_to: Mapping[Resource, str],
) -> Iterator[str]:
    """What becomes of running jobs, rung by rung; `changes` are of the pools that exist."""
    old, new = ({rung.resource: rung for rung in rungs} for rungs in (before, after))
    again = "; pods with a controller start again on any rung" * bool(after)
    for resource in dict.fromkeys([*old, *new]):
        rung = old.get(resource) or new[resource]
        change, pool = changes.get(resource), rung.pool
        if change is None:
            yield f"{pool} is new: no running job is touched"
        elif change.becomes == "forgotten":
            yield f"{pool} is forgotten: its nodes stay, and no stack manages them"
        elif change.becomes not in ("", "changed"):
            yield f"{pool} ({rung.kind}) is {change.becomes}: the jobs on its nodes end{again}"
        elif resource not in new:
            where = f"goes to the ladder {goes_to[resource]}" if resource in goes_to else "leaves"
            yield f"{pool} {where}: running jobs stay, and pods of {name} no longer start there"
        elif resource not in old:
            yield f"{pool} joins: running jobs stay, and only pods of {name} start there"
        elif _words(rung) != _words(new[resource]):
            yield f"{pool} changes: {_words(rung)} becomes {_words(new[resource])}"
    if old and not new and all(changes[each].becomes != "forgotten" for each in old):
        yield f"pods of {name} find no node any more"


def _words(rung: Rung) -> str:
    return f"{rung.vm_size}, {rung.offer}"


def _changes_order(before: Sequence[Rung], after: Sequence[Rung]) -> bool:
    """Whether rungs that stay have other places."""
    old, new = ([rung.resource for rung in rungs] for rungs in (before, after))
    return [each for each in old if each in new] != [each for each in new if each in old]
