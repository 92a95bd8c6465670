"""The stacks of a review side by side: one table, the largest risk first, and pictures of all."""

from collections.abc import Iterator, Sequence

from aksgpu.outcome import Cause
from aksgpu.review.diagram import text_of
from aksgpu.review.model import Costs, Span, StackReview
from aksgpu.review.pools import total
from aksgpu.review.wording import money

HEADINGS = ("stack", "result", "lost", "mandatory", "GPUs", "cost an hour")
# A chart of more is not readable.
_MOST_DRAWN = 20


def by_risk(stacks: Sequence[StackReview]) -> list[StackReview]:
    """The stacks, the largest risk first: the verdict, then what is lost, then the money."""
    order = list(Cause)

    def risk(stack: StackReview) -> tuple[bool, int, int, float, str]:
        lost = sum(not pool.allowed for pool in stack.lost)
        verdict = stack.verdict
        more = _more_money(stack)
        return not verdict.is_problem, order.index(verdict), -lost, -more, stack.stack

    return sorted(stacks, key=risk)


def _more_money(stack: StackReview) -> float:
    costs = stack.costs
    return float(costs.after.most - costs.before.most) if isinstance(costs, Costs) else 0.0


def rows(stacks: Sequence[StackReview]) -> Iterator[tuple[str, ...]]:
    for stack in by_risk(stacks):
        before, after = total(stack.gpus or ())
        costs = stack.costs
        yield (
            stack.stack,
            stack.verdict.word,
            str(len(stack.lost)),
            str(sum(finding.mandatory for finding in stack.findings)),
            "?" if stack.gpus is None else _change(_words(before), _words(after)),
            _change(money(costs.before), money(costs.after)) if isinstance(costs, Costs) else "?",
        )


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _words(span: Span | None) -> str:
    return "?" if span is None else str(span)


def charts(stacks: Sequence[StackReview]) -> Iterator[str]:
    """Yields Mermaid charts of the most GPUs and the most money of each stack, before and after."""
    shown = by_risk(stacks)[:_MOST_DRAWN]
    gpus = [(stack.stack, total(stack.gpus)) for stack in shown if stack.gpus is not None]
    known = [(name, (before, after)) for name, (before, after) in gpus if before and after]
    if any(span.most for _, spans in known for span in spans):
        yield _chart("GPUs at most: before as bars, after as a line", known)
    paid = [(stack.stack, stack.costs) for stack in shown if isinstance(stack.costs, Costs)]
    if paid:
        money_of = [(name, (costs.before, costs.after)) for name, costs in paid]
        yield _chart("Cost an hour at most: before as bars, after as a line", money_of)


def _chart(title: str, spans: Sequence[tuple[str, tuple[Span, Span]]]) -> str:
    names = ", ".join(f'"{text_of(name)}"' for name, _ in spans)
    before, after = (
        ", ".join(f"{float(pair[side].most):g}" for _, pair in spans) for side in (0, 1)
    )
    return "\n".join(
        [
            "xychart-beta",
            f'    title "{title}"',
            f"    x-axis [{names}]",
            f"    bar [{before}]",
            f"    line [{after}]",
        ]
    )
