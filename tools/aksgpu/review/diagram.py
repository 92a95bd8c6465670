"""The GPU pools before and after, as a Mermaid diagram, which GitHub renders."""

import re
from collections.abc import Iterator, Sequence

from aksgpu.review.model import PoolChange, PoolState, states_of, sum_of
from aksgpu.review.pools import gpus_in_words, nodes_in_words

# What Mermaid could interpret in a quoted text. It does not render its own entities correctly.
_SPECIAL = re.compile(r"[^\w .,:()/+-]")
_STYLES = (
    "classDef goes stroke:#d1242f,stroke-width:3px,stroke-dasharray:6 3",
    "classDef comes stroke:#1a7f37,stroke-width:3px",
    "classDef changes stroke:#9a6700,stroke-width:3px",
)
_CLASSES = {"": "", "created": "comes", "rotated": "changes", "changed": "changes"}
# A diagram of more pools is not readable.
_MOST = 20


def as_mermaid(pools: Sequence[PoolChange]) -> str:
    """A diagram of the first pools, changed ones first; empty if there are none."""
    shown = sorted(pools, key=lambda pool: not pool.becomes)[:_MOST]
    if not shown:
        return ""
    lines = ["flowchart LR"]
    for side in ("before", "after"):
        gpus = sum_of(state.gpus for state in states_of(pools, was=side == "before"))
        lines += _side(side, gpus_in_words(gpus), shown)
    for number, pool in enumerate(shown):
        if pool.before and pool.after:
            arrow = f"-- {pool.becomes} -->" if pool.becomes else "---"
            lines.append(f"before{number} {arrow} after{number}")
        style = _CLASSES.get(pool.becomes, "goes")
        if style:
            lines.append(f"class {'before' if style == 'goes' else 'after'}{number} {style}")
    return "\n".join([*lines, *_STYLES])


def _side(side: str, gpus: str, pools: Sequence[PoolChange]) -> Iterator[str]:
    states = [pool.before if side == "before" else pool.after for pool in pools]
    if not any(states):
        return
    yield f'subgraph {side}["{side}: {gpus}"]'
    for number, (pool, machines) in enumerate(zip(pools, states, strict=True)):
        if machines:
            becomes = pool.becomes if not (pool.before and pool.after) else ""
            name = f"{pool.pool}: {becomes}" if becomes else pool.pool
            label = "<br/>".join([_text(name), *map(_machines, machines)])
            yield f'{side}{number}["{label}"]'
    yield "end"


def _machines(state: PoolState) -> str:
    return f"{_text(state.vm_size)}<br/>{nodes_in_words(state.nodes)}, {gpus_in_words(state.gpus)}"


def _text(text: str) -> str:
    """Untrusted text without special characters, shortened."""
    return _SPECIAL.sub("?", " ".join(text.split())[:60])
