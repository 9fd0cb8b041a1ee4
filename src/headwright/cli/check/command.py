"""`headwright check`: written answers in, verdicts and marks out, on the terminal or as JSON, CSV,
HTML, Gradescope, in a gradebook.

A process that judges starts before anything else is imported: what it imports takes longest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headwright.cli.check.options import all_options
from headwright.cli.conventions import Reply
from headwright.cli.conventions import command as headwright_command
from headwright.crew.processes import start_ahead
from headwright.homework import limits

# One answer that is right, and one that is incomplete
_ANSWERS = str(Path(__file__).with_name("demo-answers.md"))


@headwright_command(
    "check",
    demo={
        "": _ANSWERS,
    },
    example="headwright check answers.md --html pages",
)
@all_options
def command(
    paths: tuple[str, ...],
    bank_file: str | None,
    questions: bool,
    explain: str | None,
    **settings: Any,
) -> Reply:
    """Judge written answers about attention by computation.

    Reads Markdown, LaTeX, plain text, notebooks, Typst and PDF; `-` is standard input. Exit code 0:
    all that was judged is correct, and something was judged in every document; 1: something is
    wrong, incomplete or missing; 2: in some document nothing could be judged, or an output could
    not be written.
    """
    if paths and not (explain or questions or settings["cluster"]):
        start_ahead(f"{limits.JUDGING_MODULE}:judged")
    from headwright.cli.check import view
    from headwright.cli.check.run import Run
    from headwright.exercise.bank import load

    bank = load(bank_file)
    if explain:
        question = bank[explain]
        return Reply(question, lambda console: view.explanation(console, question))
    if questions:
        return Reply(bank, lambda console: view.questions(console, bank))
    return Run(bank, settings).reply(paths)
