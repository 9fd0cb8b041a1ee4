"""What `headwright check` shows to people: a few documents answer by answer, a class as a table,
and the question bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headwright.report.formula import spelled

STYLES = {
    "correct": "green",
    "incomplete": "yellow",
    "wrong": "red",
    "missing": "dim",
    "unread": "dim",
}
MOST_LISTED = 3  # documents listed in full; a larger class gets one line each
_MOST_FAULTS = 5  # of a class
_COLUMN = 7  # characters per question in the table of a class
_NAME = 16  # characters that a document's name has at least
_UNDER_THE_ANSWER = (0, 0, 0, 9)
_UNDER_THE_TITLE = (0, 0, 0, 8)
_MOST_OF_A_STEP = 60  # characters
_MORE = "more: --html DIR (pages), --csv FILE, --human FILE (what to read yourself), --json"


def verdicts(console: Console, reports: Sequence[Any], order: Sequence[str]) -> None:
    if len(reports) > MOST_LISTED:
        _class(console, reports, order)
        return
    for report in reports:
        _document(console, report)


# ------------------------------------------------------------------------------- one document


def _document(console: Console, report: Any) -> None:
    console.print(Text(report.document, style="bold", overflow="ellipsis", no_wrap=True))
    console.print(_counted([report]))
    for note in report.notes:
        console.print(Text(f"note: {note}", style="dim"))
    console.print()

    said: set[str] = set()
    for verdict in report.verdicts:
        _verdict(console, verdict, said)
    console.print()


def _counted(reports: Sequence[Any]) -> Text:
    """How many answers are correct, wrong, ..."""
    from headwright.homework.showing.exports import STATUSES
    from headwright.homework.showing.pages import SIGNS

    counts = Counter(verdict.status for report in reports for verdict in report.verdicts)
    parts = []
    for status in STATUSES:
        if counts[status]:
            words = f"{SIGNS[status]} {counts[status]} {status}"
            parts.append(Text(words, style=STYLES[status]))
    return Text("   ").join(parts) if parts else Text("nothing found to judge", style="dim")


def _verdict(console: Console, verdict: Any, said: set[str]) -> None:
    """One line for the answer, then what there is to say about it; a remark is made once per
    document."""
    line = _answer_line(verdict)
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, no_wrap=True)
    if verdict.status == "missing":
        return

    details = []
    if verdict.status != "correct":
        details.append(verdict.reason)
    if verdict.repair:
        details.append(f"repair: {verdict.repair}")
    details += [remark for remark in verdict.remarks if remark not in said]
    said.update(verdict.remarks)
    for text in details:
        console.print(Padding(Text(text), _UNDER_THE_ANSWER, expand=False))

    for step in verdict.steps:
        if step.status in ("wrong", "incomplete"):
            console.print(Padding(_step_line(step), _UNDER_THE_ANSWER, expand=False))


def _answer_line(verdict: Any) -> Text:
    from headwright.homework.showing.pages import SIGNS

    style = STYLES[verdict.status]
    place = f"line {verdict.span.line_start:<5}" if verdict.span else " " * 10
    line = Text(f"{SIGNS[verdict.status]} ", style=style)
    line.append(f"{verdict.question:7}", style="bold")
    line.append(f"{verdict.status:11}", style=style)
    line.append(place, style="dim")
    if verdict.status == "missing":
        line.append(verdict.reason, style="dim")
    else:
        line.append(spelled(verdict.answer))
    return line


def _step_line(step: Any) -> Text:
    from headwright.homework.showing.pages import SIGNS

    answer = spelled(step.answer)[:_MOST_OF_A_STEP]
    words = f"step {SIGNS[step.status]} {answer}: {step.reason}"
    return Text(words, style=STYLES[step.status])


# ------------------------------------------------------------------------------------ a class


def _class(console: Console, reports: Sequence[Any], order: Sequence[str]) -> None:
    from headwright.homework.showing.exports import tallies

    console.print(Text(f"{len(reports)} documents", style="bold"))
    console.print(_counted(reports))
    console.print()

    questions = list(tallies(reports, order))
    fitting = max(1, (console.width - _NAME) // _COLUMN)
    for start in range(0, len(questions), fitting):
        _columns(console, reports, questions[start : start + fitting])
        console.print()

    for report in reports:
        for verdict in _about_the_whole(report):
            console.print(Text(f"? {_name(report)}: {verdict.reason}", style="dim"))
    _frequent_faults(console, reports)
    console.print(Text(_MORE, style="dim"))


def _columns(console: Console, reports: Sequence[Any], questions: Sequence[str]) -> None:
    """The signs of some questions, a line per document; as many as the terminal is wide."""
    left = console.width - _COLUMN * len(questions)
    header = " " * left + "".join(f"{question:>{_COLUMN}}" for question in questions)
    console.print(Text(header, style="dim"), no_wrap=True)
    for report in reports:
        if not _about_the_whole(report):
            console.print(_row(report, questions, left), no_wrap=True)


def _row(report: Any, questions: Sequence[str], left: int) -> Text:
    from headwright.homework.showing.pages import SIGNS

    name = _name(report)
    short = name if len(name) < left else name[: left - 2] + "…"
    line = Text(short.ljust(left))
    statuses = {verdict.question: verdict.status for verdict in report.verdicts}
    for question in questions:
        status = statuses.get(question, "")
        sign = SIGNS[status] if status else ""
        line.append(f"{sign:>{_COLUMN}}", style=STYLES.get(status, ""))
    return line


def _about_the_whole(report: Any) -> list[Any]:
    """Verdicts on a document that could not be judged question by question."""
    from headwright.homework.verdict import WHOLE

    return [verdict for verdict in report.verdicts if verdict.question == WHOLE]


def _frequent_faults(console: Console, reports: Sequence[Any]) -> None:
    from headwright.homework.showing.exports import faults
    from headwright.homework.showing.pages import SIGNS

    for fault in faults(reports, most=_MOST_FAULTS):
        line = Text(f"{len(fault.documents)}x ", style="bold")
        line.append(f"{SIGNS[fault.status]} {fault.question} ", style=STYLES[fault.status])
        line.append(fault.reason)
        console.print(line)


def _name(report: Any) -> str:
    return report.student or Path(report.document).name or report.document


# ----------------------------------------------------------------------------------- the bank


def questions(console: Console, bank: Any) -> None:
    """All questions, with the right answers."""
    console.print(Text(bank.title, style="bold"))
    console.print(Text(bank.setting, style="dim"))
    for question in bank:
        plural = "" if question.points == 1 else "s"
        head = Text(f"{question.id:8}", style="bold")
        head.append(question.title)
        head.append(f"  ({question.points:g} point{plural})", style="dim")
        console.print()
        console.print(head)

        console.print(Padding(Text(question.asked), _UNDER_THE_TITLE))
        if question.right:
            right = Text(f"right: {question.right}", style="green")
            console.print(Padding(right, _UNDER_THE_TITLE))


def explanation(console: Console, question: Any) -> None:
    """How one question is tested."""
    console.print(Text(f"{question.id}  {question.title}", style="bold"))
    parameters = [f"{name} = {value}" for name, value in question.parameters.items()]
    lines = {
        "asked": question.asked,
        "right": question.right,
        "tested": question.explain,
        "with": ", ".join(parameters),
    }
    table = Table.grid(padding=(0, 1))
    for label, text in lines.items():
        if text:
            table.add_row(Text(label, style="dim"), Text(text))
    console.print(table)
