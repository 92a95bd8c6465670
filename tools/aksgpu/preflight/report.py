"""The report of a preflight for people. Preflight.to_json has the same facts for programs."""

from decimal import Decimal

from rich.console import Console
from rich.text import Text

from aksgpu.preflight.costs import HOURS_A_MONTH, LEFT_OUT, Costs, PoolCost, Range
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.rows import Row
from aksgpu.report import advice_text, print_result, table

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "unknown": "yellow"}


def render(preflight: Preflight, console: Console, next_step: str) -> None:
    """Shows a preflight; `next_step` is what to do if there is no problem."""
    render_answers(preflight, console)
    if preflight.costs is not None:
        _print_costs(preflight.costs, console)
    render_result(preflight, console, "run this again")
    if not preflight.verdict.is_problem:
        console.print(Text(f"Next:   {next_step}"), soft_wrap=True)


def render_answers(preflight: Preflight, console: Console) -> None:
    """Shows the answers that are not ok, with what to do, and how many are ok."""
    where = f" in {preflight.location}" if preflight.location else ""
    where += f" on {preflight.cloud}" if preflight.cloud else ""
    ok = sum(row.answer == "ok" for row in preflight.rows)
    of_all = "" if ok == len(preflight.rows) else f" of {len(preflight.rows)}"
    line = Text(f"Preflight of the stack {preflight.stack}{where}: {ok}{of_all} questions ok")
    console.print(line, soft_wrap=True)
    has_one_remedy = len(_remedies(preflight)) == 1
    for row in preflight.rows:
        if row.answer != "ok":
            # A remedy for all problems is shown at the end.
            _print_entry(row, console, with_advice=not (row.cause and has_one_remedy))


def render_result(preflight: Preflight, console: Console, again: str) -> None:
    """Shows the verdict and, for a problem, what to do before trying `again`."""
    print_result(preflight.verdict, console, preflight.cloud)
    remedies = _remedies(preflight)
    if len(remedies) == 1:
        console.print(advice_text(remedies[0], "Next:   "), soft_wrap=True)
    elif remedies:
        console.print(f"Next:   fix the problems above, then {again}", soft_wrap=True, markup=False)


def _remedies(preflight: Preflight) -> list[str]:
    """What to do about the problems, without repetition."""
    return list(dict.fromkeys(_what_to_do(row) for row in preflight.rows if row.cause))


def _print_entry(row: Row, console: Console, *, with_advice: bool) -> None:
    about = f"{row.pool or 'the stack'}, {row.question}: "
    line = Text("  ").append(f"{row.answer}: ", _STYLES[row.answer]).append(about, "bold")
    console.print(line.append(row.what, "not bold default"), soft_wrap=True)
    if row.advice and with_advice:
        console.print(advice_text(_what_to_do(row), "    -> "), soft_wrap=True)


def _what_to_do(row: Row) -> str:
    return f"{row.key}: {row.advice}" if row.key and row.advice else row.advice


def _print_costs(costs: Costs, console: Console) -> None:
    title, prices = "The cost of the nodes is not known", costs.prices
    lines = [f"Not included: {', '.join(LEFT_OUT)}."]
    if any(cost.pool.is_rung for cost in costs.pools):
        why = "Rungs of a capacity stand in for each other"
        lines.append(f"{why}: the highest cost is that of all rungs together.")
    if not isinstance(prices, Unanswered):
        title = f"Cost of the nodes in {prices.currency}"
        remark = f" ({prices.remark})" if prices.remark else ""
        lines.insert(0, f"Price list: {prices.source}{remark}, on {prices.asked_on}.")
    cost_table = table("pool", "size", "nodes", "node hour", "hour", title=title)
    for cost in costs.pools:
        cost_table.add_row(*_pool(cost))
    if costs.hourly:
        included = f"without {', '.join(costs.unpriced)}" if costs.unpriced else "all pools"
        cost_table.add_row("the stack", included, "", "", _range(costs.hourly, 2))
        month = _range(costs.hourly.monthly, 0)
        lines.insert(0, f"A month of {HOURS_A_MONTH} hours: {month}.")
    console.print()
    console.print(cost_table)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print()


def _pool(cost: PoolCost) -> list[Text]:
    pool, hourly = cost.pool, cost.hourly
    nodes = str(pool.most) if pool.fewest == pool.most else f"{pool.fewest} to {pool.most}"
    size = f"{pool.vm_size}, spot" if pool.spot else pool.vm_size
    first_cells = [Text(pool.name), Text(size), Text(nodes)]
    if isinstance(cost.price, Unanswered) or hourly is None:
        return [*first_cells, Text("unknown", "yellow"), Text("unknown")]
    return [*first_cells, Text(_money(cost.price.hourly, 4)), Text(_range(hourly, 2))]


def _range(cost: Range, places: int) -> str:
    fewest, most = _money(cost.fewest, places), _money(cost.most, places)
    return most if cost.fewest == cost.most else f"{fewest} to {most}"


def _money(amount: Decimal, places: int) -> str:
    return f"{amount:,.{places}f}"
