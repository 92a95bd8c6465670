"""The ladders of a preview: what a change of rungs does to running jobs, and to money."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from pulumi.runtime.rpc import UNKNOWN

from aks_catalogue import capacity
from aks_catalogue.shapes import at, mapping
from aksgpu.review.costs import Lists, hourly, placed
from aksgpu.review.masking import clean
from aksgpu.review.model import Ladder, PoolChange, Rung
from aksgpu.review.preview_result import Step, inputs_of

_CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
_END = "the jobs on its nodes end; pods with a controller start again on another rung"


def ladders(steps: Collection[Step], pools: Collection[PoolChange], lists: Lists) -> list[Ladder]:
    """The ladders before and after; `pools` have what happens to each pool."""
    before, after = (_ladders(steps, lists, was=was) for was in (True, False))
    changes = {change.pool: change for change in pools}
    goes_to = {rung.pool: name for name, rungs in after.items() for rung in rungs}
    return [
        Ladder(
            name=clean(name),
            before=(old := before.get(name, [])),
            after=(new := after.get(name, [])),
            effects=[*_effects(name, old, new, changes, goes_to)],
        )
        for name in sorted({*before, *after})
    ]


def _ladders(steps: Collection[Step], lists: Lists, *, was: bool) -> dict[str, list[Rung]]:
    inputs = {step.resource: inputs_of(step.old if was else step.new) for step in steps}
    found: dict[str, list[Rung]] = defaultdict(list)
    for pool, region in placed(steps, was=was):
        own = inputs[pool.resource]
        name = mapping(own.get("nodeLabels")).get(capacity.LABEL)
        if isinstance(name, str):
            reserved = "reserved" if own.get("capacityReservationGroupID") else "regular"
            found[name].append(
                Rung(
                    pool=pool.name,
                    vm_size=pool.vm_size,
                    kind="spot" if pool.spot else reserved,
                    most=None if pool.nodes is None else int(pool.nodes.most),
                    hourly=hourly(pool, region, lists),
                )
            )
    # A text that is not known before the update leaves the order as it was.
    text = _order(steps, was=was) or _order(steps, was=True)
    for rungs in found.values():
        rungs.sort(key=lambda rung: _place(rung.pool, text))
    return found


def _order(steps: Collection[Step], *, was: bool) -> str:
    """The autoscaler's priorities, highest first; empty if they are not known."""
    for step in steps:
        inputs = inputs_of(step.old if was else step.new)
        if step.resource.type == _CONFIG_MAP and at(inputs, "metadata.name") == capacity.CONFIG_MAP:
            text = at(inputs, f"data.{capacity.KEY}")
            return text if isinstance(text, str) and text != UNKNOWN else ""
    return ""


def _place(pool: str, text: str) -> tuple[bool, int, str]:
    place = text.find(f'"^aks-{pool}-"')
    return place < 0, place, pool


def _effects(
    name: str,
    before: Sequence[Rung],
    after: Sequence[Rung],
    changes: Mapping[str, PoolChange],
    goes_to: Mapping[str, str],
) -> Iterator[str]:
    """What becomes of running jobs, rung by rung."""
    old, new = ({rung.pool: rung for rung in rungs} for rungs in (before, after))
    for pool in dict.fromkeys([*old, *new]):
        change = changes[pool]
        if pool in old and change.becomes not in ("", "changed"):
            yield f"{pool} ({old[pool].kind}) is {change.becomes}: {_END}"
        elif pool not in new:
            where = f"goes to the ladder {goes_to[pool]}" if pool in goes_to else "leaves"
            yield f"{pool} {where}: running jobs stay, and pods of {name} no longer start there"
        elif pool not in old and change.before:
            yield f"{pool} joins: running jobs stay, and only pods of {name} start there"
        elif pool not in old:
            yield f"{pool} is new: no running job is touched"
        elif _words(old[pool]) != _words(new[pool]):
            yield f"{pool} changes: {_words(old[pool])} becomes {_words(new[pool])}"
    if [pool for pool in old if pool in new] != [pool for pool in new if pool in old]:
        yield "the order changes: running jobs stay where they are, and only new nodes follow it"


def _words(rung: Rung) -> str:
    return f"{rung.vm_size}, {rung.kind}, at most {rung.most} nodes"
