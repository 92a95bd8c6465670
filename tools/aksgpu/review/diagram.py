"""The GPU pools before and after, as a Mermaid diagram, which GitHub renders."""

import re
from collections.abc import Iterator, Sequence

from aksgpu.review.model import GpuCount, PoolChange, PoolState, Span
from aksgpu.review.pools import nodes_in_words, total

# What Mermaid could interpret in a quoted text. It does not render its own entities correctly.
_SPECIAL = re.compile(r"[^\w .,:()/+-]")
_STYLES = (
    "classDef goes stroke:#d1242f,stroke-width:3px,stroke-dasharray:6 3",
    "classDef comes stroke:#1a7f37,stroke-width:3px",
    "classDef changes stroke:#9a6700,stroke-width:3px",
)
_CLASSES = {"": "", "created": "comes", "rotated": "changes", "changed": "changes"}


def as_mermaid(pools: Sequence[PoolChange], gpus: Sequence[GpuCount], most: int) -> str:
    """A diagram of at most `most` pools; empty if there are none."""
    # Changed pools first.
    shown = sorted(pools, key=lambda pool: not pool.becomes)[:most]
    if not shown:
        return ""
    before, after = total(gpus)
    lines = ["flowchart LR", *_side("before", before, shown), *_side("after", after, shown)]
    for number, pool in enumerate(shown):
        if pool.before and pool.after:
            arrow = f"-- {pool.becomes} -->" if pool.becomes else "---"
            lines.append(f"before{number} {arrow} after{number}")
        style = _CLASSES.get(pool.becomes, "goes")
        if style:
            lines.append(f"class {'before' if style == 'goes' else 'after'}{number} {style}")
    return "\n".join([*lines, *_STYLES])


def _side(side: str, gpus: Span | None, pools: Sequence[PoolChange]) -> Iterator[str]:
    states = [pool.before if side == "before" else pool.after for pool in pools]
    if not any(states):
        return
    yield f'subgraph {side}["{side}: {_gpus(gpus)}"]'
    for number, (pool, machines) in enumerate(zip(pools, states, strict=True)):
        if machines:
            becomes = pool.becomes if not (pool.before and pool.after) else ""
            name = f"{pool.pool}: {becomes}" if becomes else pool.pool
            label = "<br/>".join([text_of(name), *map(_machines, machines)])
            yield f'{side}{number}["{label}"]'
    yield "end"


def _machines(state: PoolState) -> str:
    return f"{text_of(state.vm_size)}<br/>{nodes_in_words(state.nodes)}, {_gpus(state.gpus)}"


def _gpus(gpus: Span | None) -> str:
    if gpus is None:
        return "a number of GPUs not known yet"
    return f"{gpus} GPU{'' if gpus.most == 1 else 's'}"


def text_of(text: str) -> str:
    """Untrusted text without special characters, shortened."""
    return _SPECIAL.sub("?", " ".join(text.split())[:60])
