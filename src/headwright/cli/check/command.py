"""`headwright check`: written answers in, verdicts out, on the terminal or as JSON, CSV, HTML,
Gradescope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import rich_click as click

from headwright.cli.check import documents as given
from headwright.cli.check import view
from headwright.cli.conventions import Outputs, Reply, progress
from headwright.cli.conventions import command as headwright_command
from headwright.files import write_json, write_text

_PAGES = "One page per document, and an index of the class."
_GRADESCOPE = "Write Gradescope's results.json."
_HUMAN = "What a person should look at, the most doubtful first, as CSV."
_BANK = "Your own questions and points, in TOML."


class _Verdicts(Reply):
    """A reply whose exit code tells documents in which nothing could be judged (2) from an answer
    that fails (1)."""

    def __init__(self, reports: Sequence[Any], bank: Any, outputs: Outputs) -> None:
        from headwright.homework.showing.exports import rows

        order = [question.id for question in bank]
        Reply.__init__(
            self,
            {"verdicts": rows(reports)},
            lambda console: view.verdicts(console, reports, order),
            holds=all(report.holds for report in reports),
            faults=outputs.faults,
        )
        self.unjudged = any(_nothing_judged(report) for report in reports)

    @property
    def exit_code(self) -> int:
        return 2 if self.faults or (self.holds and self.unjudged) else 0 if self.holds else 1


def _nothing_judged(report: Any) -> bool:
    return all(verdict.status == "unread" for verdict in report.verdicts)


@headwright_command("check")
@click.argument("paths", nargs=-1, metavar="FILE|DIR ...")
@click.option("--csv", "csv_file", type=click.Path(), help="One row per document and question.")
@click.option("--human", "human_file", type=click.Path(), help=_HUMAN)
@click.option("--html", "html_folder", type=click.Path(), help=_PAGES)
@click.option("--gradescope", "gradescope_file", type=click.Path(), help=_GRADESCOPE)
@click.option("--bank", "bank_file", type=click.Path(), help=_BANK)
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
        return Reply(question, lambda console: view.explanation(console, question))
    if questions:
        return Reply(bank, lambda console: view.questions(console, bank))
    return _judge(paths, bank, **outputs)


def _judge(
    paths: tuple[str, ...],
    bank: Any,
    *,
    csv_file: str | None,
    human_file: str | None,
    html_folder: str | None,
    gradescope_file: str | None,
) -> Reply:
    """Judge everything and write every output that can be written."""
    from headwright.homework.showing import exports
    from headwright.homework.showing.human_queue import human_queue

    outputs = Outputs()
    documents = given.documents(paths)
    if html_folder:
        reports = _with_pages(Path(html_folder), documents, bank, outputs)
    else:
        reports = [outcome.report for outcome in _judged(documents, bank)]

    if csv_file:
        outputs.attempt(lambda: write_text(csv_file, exports.as_csv(reports)))
    if human_file:
        outputs.attempt(lambda: write_text(human_file, human_queue(reports)))
    if gradescope_file:
        outputs.attempt(lambda: write_json(gradescope_file, exports.gradescope(reports, bank)))
    return _Verdicts(reports, bank, outputs)


def _judged(documents: Sequence[Any], bank: Any, *, pages: bool = False) -> Iterable[Any]:
    from headwright.homework.batch import judge_many

    outcomes = judge_many(documents, bank, pages=pages)
    return progress(outcomes, "checking", total=len(documents))


def _with_pages(path: Path, documents: Sequence[Any], bank: Any, outputs: Outputs) -> list[Any]:
    """The reports, with pages written on the way; what cannot be written is noted once and costs no
    verdict."""
    from headwright.homework.showing import page_folder

    reports: list[Any] = []
    left = iter(_judged(documents, bank, pages=True))

    def write_pages() -> None:
        with page_folder.opened(path) as folder:
            for outcome in left:
                reports.append(outcome.report)
                folder.add(outcome.report, outcome.page)
            folder.finish(_index(folder.entries, reports, bank))

    outputs.attempt(write_pages)
    return reports + [outcome.report for outcome in left]


def _index(entries: Any, reports: Sequence[Any], bank: Any) -> str:
    """The page of the class. Its formulas are drawn by the same processes that judged."""
    from headwright.homework import batch
    from headwright.homework.showing import class_page, exports, pages

    titles = {question.id: question.title for question in bank}
    wanted: list[str] = []
    for fault in exports.faults(reports):
        pages.shown(fault.answer, lambda latex: wanted.append(latex) or "")
    drawn = batch.draw(wanted)

    def draw(latex: str) -> str:
        return drawn.get(latex) or pages.as_text(latex)

    return class_page.index_page(entries, titles, draw=draw)
