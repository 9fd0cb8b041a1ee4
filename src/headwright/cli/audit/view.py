"""What `headwright audit` shows a person: what stands out, what breaks first, then some heads."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from headwright.cli.terminal.screen import fitted

# Shown from the left as far as the terminal is wide. All are in --json, --csv, --html.
_SHOWN = (
    "entropy", "effective_keys", "largest", "first", "previous", "induction", "copy", "noise_gain",
    "sharpness", "reachable", "margin", "average", "worst_case", "separators", "duplicate",
    "redundancy", "horizon", "sharpness_needed",
)  # fmt: skip
# Headers are the measures' names, which --sort takes, but for these.
_SHORT = {
    "effective_keys": "keys",
    "noise_gain": "noise",
    "worst_case": "worst",
    "sharpness_needed": "needed",
}
_MOST_ROWS = 24
_NOISE_TITLE = "output error ± standard error over the sampled rows, medians over heads"


def show(console: Console, result: Any, order: str) -> None:
    """The whole answer, but for files that were written. Heads are ordered by `order`; where it is
    empty, only the remarkable ones are shown, and why."""
    console.print(Text(f"{result.model}: {result.extent}", style="bold"))
    _numbered(console, [finding.sentence for finding in result.remarkable.findings])
    _breaking(console, result.breaking)
    whys = {one.card.place: one.why for one in result.remarkable.heads}
    remarkable = [one.card for one in result.remarkable.heads]
    if order or not remarkable:
        heads(console, result, result.sorted(order) if order else result.cards, order=order)
    else:
        heads(console, result, remarkable, whys=whys)
    if result.key_noise is not None:
        _key_noise(console, result.key_noise)


def _numbered(console: Console, sentences: Sequence[str]) -> None:
    """Each in lines of its own, indented under its number."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, justify="right")
    table.add_column()
    for number, sentence in enumerate(sentences, 1):
        table.add_row(f"{number}.", escape(sentence))
    console.print(table)


def _breaking(console: Console, breaking: Any) -> None:
    if not breaking.heads:
        return
    console.print()
    console.print(Text(f"Breaks first (by {breaking.measured_by})", style="bold"))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    for one in breaking.heads[:4]:
        table.add_row(escape(one.card.name), escape(one.why))
    console.print(table)


def heads(
    console: Console,
    result: Any,
    shown: Sequence[Any],
    *,
    order: str = "",
    whys: dict[Any, str] | None = None,
) -> None:
    """A table of these heads, with as many columns as fit."""
    measured = result.columns
    # What the heads are ordered by comes first, whatever the width.
    wanted = dict.fromkeys((order, *_SHOWN, *measured))
    columns = [name for name in wanted if name in measured]
    wider = [_table(shown, columns[: k + 1], whys or {}) for k in range(len(columns))]
    console.print(_widest(console, wider))

    hidden = len(result) - min(len(shown), _MOST_ROWS)
    if hidden > 0:
        console.print(f"{hidden} more heads: --json, --csv or --html; --sort MEASURE orders them")


def _table(shown: Sequence[Any], columns: list[str], whys: dict[Any, str]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("head", no_wrap=True)
    if whys:
        table.add_column("what it is", no_wrap=True)
    for name in columns:
        table.add_column(_SHORT.get(name, name), no_wrap=True, justify="right")
    for card in shown[:_MOST_ROWS]:
        why = [whys.get(card.place, "")] if whys else []
        numbers = [_number(card.measures[name]) for name in columns]
        table.add_row(escape(card.name), *why, *numbers)
    return table


def _widest(console: Console, tables: list[Table]) -> Table:
    """The last of ever wider tables that needs nothing cut off."""
    free = console.options.update(max_width=sys.maxsize)
    fitting = tables[0]
    for table in tables:
        if Measurement.get(console, free, table).maximum <= console.width:
            fitting = table
    return fitting


def _number(value: float) -> str:
    """At most six characters: 0.25, 12.34, 1024, 1e+05."""
    if not math.isfinite(value):
        return "-"
    size = abs(value)
    return f"{value:.2f}" if size < 100 else f"{value:.0f}" if size < 1e5 else f"{value:.0e}"


def _key_noise(console: Console, noise: Any) -> None:
    """Rounded keys: predicted and measured errors, and the fewest bits for some of them."""
    from headwright.trained.cache.key_noise import UNSETTLED, budget_counts

    table = Table("bits", "step per", "predicted", "measured", "rank corr.", title=_NOISE_TITLE)
    for setting in noise.settings:
        table.add_row(*setting.line())
    console.print(fitted(table, console))

    budgets = noise.budgets()
    for budget in budgets:
        counts = budget_counts(budget["bits"])
        unsettled = f" ({budget['unsettled']} unsettled)" if budget["unsettled"] else ""
        error = f"{budget['error']:.0%} output error"
        console.print(f"fewest bits per key head for {error}: {counts}{unsettled}")
    if any(budget["unsettled"] for budget in budgets):
        within = f"within {UNSETTLED:g} standard errors over the rows"
        console.print(f"unsettled: another number of bits is {within}")


def changes(console: Console, found: Any) -> None:
    """What changed against another audit."""
    console.print()
    console.print(Text(f"Against {found.before}", style="bold"))
    _numbered(console, found.sentences)
    if not found.heads:
        return
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("head", no_wrap=True)
    table.add_column("size", no_wrap=True, justify="right")
    table.add_column("before and now")
    for head in found.heads[:_MOST_ROWS]:
        named = "; ".join(str(change) for change in head.changes[:3])
        table.add_row(escape(head.card.name), _number(head.size), escape(named))
    console.print(table)
