"""`headwright check`: written answers in, verdicts out, on the terminal or as JSON, CSV, HTML,
Gradescope."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headwright.cli.conventions import Outputs, Reply, progress
from headwright.cli.conventions import command as headwright_command
from headwright.errors import InputError
from headwright.files import write_json, write_text

_STYLES = {
    "correct": "green",
    "incomplete": "yellow",
    "wrong": "red",
    "missing": "dim",
    "unread": "dim",
}
_COLUMN = 7  # characters per question in the table of a class
_MOST_LISTED = 3  # documents listed in full; a larger class gets one line each


class _Verdicts(Reply):
    """A reply whose exit code tells documents in which nothing could be judged (2) from an answer
    that fails (1)."""

    def __init__(self, reports: Sequence[Any], bank: Any, outputs: Outputs) -> None:
        from headwright.homework.exports import rows

        order = [question.id for question in bank]
        Reply.__init__(
            self,
            {"verdicts": rows(reports)},
            lambda console: _render(console, reports, order),
            holds=all(report.holds for report in reports),
            faults=outputs.faults,
        )
        self.unjudged = any(
            all(v.status == "unread" for v in report.verdicts) for report in reports
        )

    @property
    def exit_code(self) -> int:
        return 2 if self.faults or (self.holds and self.unjudged) else 0 if self.holds else 1


@headwright_command("check")
@click.argument("paths", nargs=-1, metavar="FILE|DIR ...")
@click.option("--csv", "csv_file", type=click.Path(), help="One row per document and question.")
@click.option(
    "--html",
    "html_folder",
    type=click.Path(),
    help="One page per document, and an index of the class.",
)
@click.option(
    "--gradescope", "gradescope_file", type=click.Path(), help="That platform's results.json."
)
@click.option(
    "--bank", "bank_file", type=click.Path(), help="Your own questions and points, in TOML."
)
@click.option("--questions", is_flag=True, help="Print the question bank and stop.")
@click.option("--explain", metavar="ID", help="Show how one question is tested, e.g. b.q.")
def command(
    paths: tuple[str, ...],
    bank_file: str | None,
    questions: bool,
    explain: str | None,
    **outputs: Any,
) -> Reply:
    """Judge written answers about attention by computation.

    Reads Markdown, LaTeX, plain text, notebooks and Typst; `-` is standard input. Exit code 0: all
    that was judged is correct, and something was judged in every document; 1: something is wrong,
    incomplete or missing; 2: in some document nothing could be judged, or an output could not be
    written.
    """
    from headwright.exercise.bank import load

    bank = load(bank_file)
    if explain:
        question = bank[explain]
        return Reply(question, lambda console: _explain(console, question))
    if questions:
        return Reply(bank, lambda console: _questions(console, bank))
    return _judge(paths, bank, **outputs)


def _judge(
    paths: tuple[str, ...],
    bank: Any,
    *,
    csv_file: str | None,
    html_folder: str | None,
    gradescope_file: str | None,
) -> Reply:
    """Judge everything and write every output that can be written."""
    from headwright.homework import exports

    outputs = Outputs()
    if html_folder:
        reports = _with_pages(Path(html_folder), _documents(paths), bank, outputs)
    else:
        reports = [outcome.report for outcome in _judged(_documents(paths), bank)]
    if csv_file:
        outputs.attempt(lambda: write_text(csv_file, exports.as_csv(reports)))
    if gradescope_file:
        outputs.attempt(lambda: write_json(gradescope_file, exports.gradescope(reports, bank)))
    return _Verdicts(reports, bank, outputs)


def _judged(documents: Sequence[Any], bank: Any, *, pages: bool = False) -> Iterable[Any]:
    from headwright.homework.batch import judge_many

    return progress(judge_many(documents, bank, pages=pages), "checking", total=len(documents))


def _with_pages(path: Path, documents: Sequence[Any], bank: Any, outputs: Outputs) -> list[Any]:
    """The reports, with pages written on the way; what cannot be written is noted once and costs no
    verdict."""
    from headwright.homework import batch, class_page, exports, page_folder, pages

    reports: list[Any] = []
    left = iter(_judged(documents, bank, pages=True))

    def write_pages() -> None:
        with page_folder.opened(path) as folder:
            for outcome in left:
                reports.append(outcome.report)
                folder.add(outcome.report, outcome.page)
            titles = {question.id: question.title for question in bank}
            drawn = batch.draw([fault.answer for fault in exports.faults(reports)])

            def draw(latex: str) -> str:
                return drawn.get(latex) or pages.as_text(latex)

            folder.finish(class_page.index_page(folder.entries, titles, draw=draw))

    outputs.attempt(write_pages)
    return reports + [outcome.report for outcome in left]


def _documents(paths: tuple[str, ...]) -> list[Any]:
    from headwright.homework.limits import MOST_BYTES
    from headwright.homework.reading.encodings import decoded
    from headwright.homework.reading.sources import Source, sources

    if not paths:
        raise InputError(
            wanted="documents to check",
            got="none",
            attempt="headwright check answers.md, a folder, or - for standard input",
        )
    found = [] if paths == ("-",) else sources([p for p in paths if p != "-"])
    if "-" in paths:
        text, _ = decoded(sys.stdin.buffer.read(MOST_BYTES))
        found.insert(0, Source("standard input", text=text))
    return found


# ------------------------------------------------------------------------------------------- for people


def _render(console: Console, reports: Sequence[Any], order: Sequence[str]) -> None:
    if len(reports) <= _MOST_LISTED:
        for report in reports:
            _document(console, report)
    else:
        _class(console, reports, order)


def _document(console: Console, report: Any) -> None:
    console.print(Text(report.document, style="bold", overflow="ellipsis", no_wrap=True))
    console.print(_counted(Counter(v.status for v in report.verdicts)))
    for note in report.notes:
        console.print(Text(f"note: {note}", style="dim"))
    console.print()
    said: set[str] = set()
    for verdict in report.verdicts:
        _verdict(console, verdict, said)
    console.print()


def _counted(counts: Counter[str]) -> Text:
    from headwright.homework.exports import STATUSES
    from headwright.homework.pages import SIGNS

    parts = [Text(f"{SIGNS[s]} {counts[s]} {s}", style=_STYLES[s]) for s in STATUSES if counts[s]]
    return Text("   ").join(parts) if parts else Text("nothing found to judge", style="dim")


def _verdict(console: Console, verdict: Any, said: set[str]) -> None:
    """One line for the answer, then what there is to say about it; a remark is made once per
    document."""
    from headwright.homework.pages import SIGNS

    line = Text(f"{SIGNS[verdict.status]} ", style=_STYLES[verdict.status])
    line.append(f"{verdict.question:7}", style="bold")
    line.append(f"{verdict.status:11}", style=_STYLES[verdict.status])
    line.append(f"line {verdict.span.line_start:<5}" if verdict.span else " " * 10, style="dim")
    line.append(_readable(verdict.answer))
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True)
    if verdict.status == "missing":
        return
    details = [verdict.reason] if verdict.status != "correct" else []
    details += [f"repair: {verdict.repair}"] if verdict.repair else []
    details += [remark for remark in verdict.remarks if remark not in said]
    said.update(verdict.remarks)
    for text in details:
        console.print(Padding(Text(text), (0, 0, 0, 9), expand=False))
    for step in verdict.steps:
        if step.status in ("wrong", "incomplete"):
            words = f"step {SIGNS[step.status]} {_readable(step.answer)[:60]}: {step.reason}"
            console.print(
                Padding(Text(words, style=_STYLES[step.status]), (0, 0, 0, 9), expand=False)
            )


_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "lambda": "λ",
    "mu": "μ", "nu": "ν", "Sigma": "Σ", "tau": "τ",
    "gg": "≫", "ll": "≪", "approx": "≈", "sim": "~", "to": "→", "rightarrow": "→", "neq": "≠", "ne": "≠", "geq": "≥",
    "ge": "≥", "leq": "≤", "le": "≤", "infty": "∞", "forall": "∀", "cdot": "·", "in": "∈", "sum": "Σ", "quad": " ",
    "top": "T", "therefore": "∴", "Rightarrow": "⇒", "dots": "…", "times": "×", "left": "", "right": "", "exp": "exp",
}  # fmt: skip


def _readable(latex: str) -> str:
    """A formula for the terminal: Greek letters and signs instead of their commands."""
    latex = re.sub(
        r"\\(?:text|mathbf|boldsymbol|mathrm|mathcal|mathsf|vec|boxed)\s*\{([^{}]*)\}", r"\1", latex
    )
    latex = re.sub(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", latex).replace(
        "(1)/(2)", "1/2"
    )
    latex = re.sub(r"\\([A-Za-z]+)", lambda m: _SIGNS.get(m[1], m[0]), latex)
    return " ".join(re.sub(r"([_^])\{(\w)\}", r"\1\2", latex).split())


def _class(console: Console, reports: Sequence[Any], order: Sequence[str]) -> None:
    from headwright.homework.exports import faults, tallies
    from headwright.homework.pages import SIGNS
    from headwright.homework.verdict import WHOLE

    questions = list(tallies(reports, order))
    console.print(Text(f"{len(reports)} documents", style="bold"))
    console.print(_counted(Counter(v.status for r in reports for v in r.verdicts)))
    console.print()
    fits = max(1, (console.width - 16) // _COLUMN)
    for chunk in [questions[i : i + fits] for i in range(0, len(questions), fits)]:
        wide = console.width - _COLUMN * len(chunk)
        console.print(
            Text(" " * wide + "".join(f"{q:>{_COLUMN}}" for q in chunk), style="dim"), no_wrap=True
        )
        for report in reports:
            if all(v.question != WHOLE for v in report.verdicts):
                console.print(_row(report, chunk, wide, SIGNS), no_wrap=True)
        console.print()
    for report in reports:
        for verdict in report.verdicts:
            if verdict.question == WHOLE:
                console.print(Text(f"? {_name(report)}: {verdict.reason}", style="dim"))
    for fault in faults(reports, most=5):
        head = Text(f"{len(fault.documents)}x ", style="bold")
        head.append(f"{SIGNS[fault.status]} {fault.question} ", style=_STYLES[fault.status])
        head.append(fault.reason)
        console.print(head)
    console.print(
        Text(
            "more: --html DIR for pages, --csv FILE for a table, --json for everything", style="dim"
        )
    )


def _name(report: Any) -> str:
    return Path(report.document).name or report.document


def _row(report: Any, questions: Sequence[str], wide: int, signs: dict[str, str]) -> Text:
    name = _name(report)
    line = Text((name if len(name) < wide else name[: wide - 2] + "…").ljust(wide))
    statuses = {v.question: v.status for v in report.verdicts}
    for question in questions:
        status = statuses.get(question)
        line.append(
            f"{signs[status] if status else '':>{_COLUMN}}", style=_STYLES.get(status or "", "")
        )
    return line


def _questions(console: Console, bank: Any) -> None:
    console.print(Text(bank.title, style="bold"))
    console.print(Text(bank.setting, style="dim"))
    for question in bank:
        console.print()
        head = Text(f"{question.id:8}", style="bold")
        head.append(question.title)
        head.append(
            f"  ({question.points:g} point{'s' if question.points != 1 else ''})", style="dim"
        )
        console.print(head)
        console.print(Padding(Text(question.asked), (0, 0, 0, 8)))
        if question.right:
            console.print(Padding(Text(f"right: {question.right}", style="green"), (0, 0, 0, 8)))


def _explain(console: Console, question: Any) -> None:
    console.print(Text(f"{question.id}  {question.title}", style="bold"))
    table = Table.grid(padding=(0, 1))
    given = ", ".join(f"{name} = {value}" for name, value in question.parameters.items())
    lines = (
        ("asked", question.asked),
        ("right", question.right),
        ("tested", question.explain),
        ("with", given),
    )
    for label, text in lines:
        if text:
            table.add_row(Text(label, style="dim"), Text(text))
    console.print(table)
