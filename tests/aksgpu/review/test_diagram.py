"""The picture of the pools: what changes is seen, and no name breaks out of it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from aksgpu.review.diagram import as_mermaid
from aksgpu.review.losses import lost_pools
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import PoolChange, PoolState, Resource
from aksgpu.review.pools import pool_changes
from tests.aksgpu.review.reviews import A100, T4, review, seen, span, step, urn, whole_stack

IN = {"resourceGroupName": "g", "resourceName": "c"}


def pool(name: str, size: str = T4, count: int = 2) -> dict[str, object]:
    return {**IN, "agentPoolName": name, "vmSize": size, "count": count}


def test_each_pool_is_drawn_with_its_change() -> None:
    steps = seen(
        step("replace", "a", pool("a"), pool("a", A100), keys=["vmSize"]),
        step("delete", "d", pool("d")),
        step("create", "n", None, pool("n")),
        step("update", "u", pool("u"), pool("u", count=3)),
        step("same", "s", pool("s"), pool("s")),
    ).steps.values()
    pools = pool_changes(steps, lost_pools("dev", list(steps), ()))
    assert {change.pool: change.becomes for change in pools} == {
        "a": "replaced",
        "d": "deleted",
        "n": "created",
        "u": "changed",
        "s": "",
    }
    assert as_mermaid(pools).splitlines() == [
        "flowchart LR",
        'subgraph before["before: 8 GPUs"]',
        f'before0["a<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        f'before1["d: deleted<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        f'before3["u<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        f'before4["s<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        "end",
        'subgraph after["after: 9 GPUs"]',
        f'after0["a<br/>{A100}<br/>2 nodes, 2 GPUs"]',
        f'after2["n: created<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        f'after3["u<br/>{T4}<br/>3 nodes, 3 GPUs"]',
        f'after4["s<br/>{T4}<br/>2 nodes, 2 GPUs"]',
        "end",
        "before0 -- replaced --> after0",
        "class before0 goes",
        "class before1 goes",
        "class after2 comes",
        "before3 -- changed --> after3",
        "class after3 changes",
        "before4 --- after4",
        *as_mermaid(pools).splitlines()[-3:],
    ]


@given(st.text(), st.text(), st.sampled_from(["", "changed", "replaced"]))
def test_no_pool_name_breaks_the_diagram(name: str, size: str, fate: str) -> None:
    state = PoolState(size, span(0, 1), None)
    change = PoolChange(
        pool=name, resource=Resource(urn("a")), becomes=fate, before=[state], after=[state]
    )
    harmless = PoolChange(
        pool="a", resource=change.resource, becomes=fate, before=[state], after=[state]
    )
    drawn, plain = (as_mermaid([each]) for each in (change, harmless))
    assert drawn.count("\n") == plain.count("\n")
    assert drawn.count('"') == plain.count('"')
    assert re.findall("[<>`]", drawn) == re.findall("[<>`]", plain)


def test_a_comment_has_the_diagram_with_a_limited_number_of_pools() -> None:
    stack = whole_stack(pools=60)
    stack.pools = [
        PoolChange(
            pool=f"pool{number}",
            resource=Resource(urn(f"pool{number}")),
            becomes="created" if number == 59 else "",
            before=[],
            after=[PoolState(T4, span(0, 1), span(0, 1))],
        )
        for number in range(60)
    ]
    text = as_markdown(review(stack))
    drawn = text.partition("```mermaid\n")[2].partition("```")[0]
    assert drawn.startswith('flowchart LR\nsubgraph after["')
    assert drawn.count("pool") == 20
    # What changes comes first.
    assert "pool59: created" in drawn
