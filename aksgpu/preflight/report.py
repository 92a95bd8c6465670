"""What a preflight tells: tables for people. Programs get the same facts from Preflight.to_json."""

from decimal import Decimal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from aksgpu.preflight.costs import HOURS_A_MONTH, LEFT_OUT, Costs, PoolCost, Range
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.rows import Row
from aksgpu.report import print_result, table

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "unknown": "yellow"}


def render(preflight: Preflight, console: Console, next_step: str) -> None:
    """Shows a preflight; `next_step` is what to do where nothing stands against the stack."""
    where = f" in {preflight.location}" if preflight.location else ""
    console.print(_answers(preflight, f"Preflight of the stack {preflight.stack}{where}"))
    for row in preflight.rows:
        if row.answer != "ok":
            _print_entry(row, console)
    if preflight.costs is not None:
        _print_costs(preflight.costs, console)
    print_result(preflight.verdict, console)
    deciding = preflight.deciding
    step = _what_to_do(deciding) if deciding else next_step
    console.print(Text(f"Next:   {step}"), soft_wrap=True)


def render_briefly(preflight: Preflight, console: Console) -> None:
    """Shows what is not simply right, whole lines that can be copied; the rest in one."""
    where = f" in {preflight.location}" if preflight.location else ""
    fine = [row for row in preflight.rows if row.answer == "ok"]
    told = f"{len(fine)} of {len(preflight.rows)} answers are ok"
    said = Text(f"Preflight of the stack {preflight.stack}{where}: {told}.")
    if preflight.costs is not None and preflight.costs.hourly:
        said.append(f" The nodes cost {_hourly(preflight.costs)}.")
    console.print(said, soft_wrap=True)
    for row in preflight.rows:
        if row.answer != "ok":
            _print_entry(row, console)
    if preflight.verdict.is_problem:
        print_result(preflight.verdict, console)


def _hourly(costs: Costs) -> str:
    prices = costs.prices
    known = "" if isinstance(prices, Unanswered) else prices.currency
    remark = "" if isinstance(prices, Unanswered) or not prices.remark else f" ({prices.remark})"
    return f"{_range(costs.hourly, 2) if costs.hourly else 'nothing'} {known} an hour{remark}"


def _print_entry(row: Row, console: Console) -> None:
    about = f"{row.pool or 'the stack'}, {row.question}: "
    line = Text("  ").append(f"{row.answer}: ", _STYLES[row.answer]).append(about, "bold")
    console.print(line.append(row.what, "not bold default"), soft_wrap=True)
    if row.advice:
        console.print(Text(f"    -> {_what_to_do(row)}"), soft_wrap=True)


def _answers(preflight: Preflight, title: str) -> Table:
    answers = table("pool", "question", "answer", "what it is", title=title)
    for row in preflight.rows:
        answer = Text(row.answer, _STYLES[row.answer])
        # What is not simply right stands below in whole lines, with what to do: they are copied.
        what = row.what if row.answer == "ok" else "see below"
        answers.add_row(Text(row.pool or "-"), Text(row.question), answer, Text(what))
    return answers


def _what_to_do(row: Row) -> str:
    return f"{row.key}: {row.advice}" if row.key and row.advice else row.advice


def _print_costs(costs: Costs, console: Console) -> None:
    title, prices = "What the nodes cost is not known", costs.prices
    lines = [f"Left out: {', '.join(LEFT_OUT)}. A month has {HOURS_A_MONTH} hours."]
    if not isinstance(prices, Unanswered):
        title = f"What the nodes cost, in {prices.currency}"
        remark = f" ({prices.remark})" if prices.remark else ""
        lines.insert(0, f"By the price list {prices.source}{remark}, on {prices.asked_on}.")
    headings = ("pool", "size", "nodes", "a node's hour", "an hour", "a month")
    shown = table(*headings, title=title)
    for cost in costs.pools:
        shown.add_row(*_pool(cost))
    if costs.hourly:
        shown.add_section()
        whole = f"without {', '.join(costs.unpriced)}" if costs.unpriced else "all pools"
        hour, month = _range(costs.hourly, 4), _range(costs.hourly.monthly, 2)
        shown.add_row("the stack", whole, "", "", hour, month)
    console.print(shown)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def _pool(cost: PoolCost) -> list[Text]:
    pool, hourly = cost.pool, cost.hourly
    nodes = str(pool.most) if pool.fewest == pool.most else f"{pool.fewest} to {pool.most}"
    size = f"{pool.vm_size}, spot" if pool.spot else pool.vm_size
    known = [Text(pool.name), Text(size), Text(nodes)]
    if isinstance(cost.price, Unanswered) or hourly is None:
        return [*known, Text("unknown", "yellow"), Text("unknown"), Text("unknown")]
    prices = [_money(cost.price.hourly, 4), _range(hourly, 4), _range(hourly.monthly, 2)]
    return [*known, *map(Text, prices)]


def _range(money: Range, places: int) -> str:
    fewest, most = _money(money.fewest, places), _money(money.most, places)
    return most if money.fewest == money.most else f"{fewest} to {most}"


def _money(amount: Decimal, places: int) -> str:
    return f"{amount:,.{places}f}"
