"""The options of `headwright check`, in the groups that its help shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rich_click as click

from headwright.cli.crew_options import CREW_OPTIONS, STORE_OPTION

_FILE = click.Path()


def _option(name: str, *others: str, **settings: Any) -> tuple[str, Callable[..., Any]]:
    return name, click.option(name, *others, **settings)


_GROUPS = {
    "What is written": [
        _option("--csv", "csv_file", type=_FILE, help="One row per document and question."),
        _option(
            "--human",
            "human_file",
            type=_FILE,
            help="What a person should look at, the most doubtful first, as CSV.",
        ),
        _option(
            "--html",
            "html_folder",
            type=_FILE,
            help="One page per document, and an index of the class.",
        ),
        _option(
            "--gradescope", "gradescope_file", type=_FILE, help="Write Gradescope's results.json."
        ),
    ],
    "Many documents": [
        _option(name, **settings) for name, settings in (CREW_OPTIONS | STORE_OPTION).items()
    ],
    "The questions": [
        _option("--bank", "bank_file", type=_FILE, help="Your own questions and points, in TOML."),
        _option("--questions", is_flag=True, help="Print the question bank and stop."),
        _option("--explain", metavar="ID", help="Show how one question is tested, e.g. b.q."),
    ],
    "A course": [
        _option("--roster", "roster_file", type=_FILE, help="The students, as CSV."),
        _option(
            "--manifest",
            "manifest_file",
            type=_FILE,
            help="What headwright new wrote: everyone is judged by their own sheet.",
        ),
        _option("--rubric", "rubric_file", type=_FILE, help="What answers are worth, in TOML."),
        _option(
            "--dry-run", is_flag=True, help="Show what each document would get; write nothing."
        ),
        _option(
            "--gradebook",
            "gradebook_file",
            type=_FILE,
            help="A sheet that Canvas or Moodle exported; --out gets it with the marks.",
        ),
        _option("--out", "out_file", type=_FILE, help="Where the filled gradebook goes."),
        _option("--column", help="The gradebook's column for the marks."),
        _option(
            "--overwrite", is_flag=True, help="Replace marks that are already in the gradebook."
        ),
        _option(
            "--against",
            "against_file",
            type=_FILE,
            help="An earlier output of --json: show only what changed, and why.",
        ),
        _option("--anonymous", is_flag=True, help="Pseudonyms instead of names."),
        _option(
            "--names-key",
            "key_file",
            type=_FILE,
            default="headwright-names.key",
            show_default=True,
            help="The key to the pseudonyms, for the teacher alone; made if it is missing.",
        ),
    ],
}


def all_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The paths, and the options under a heading for each group."""
    for title, group in reversed(_GROUPS.items()):
        for _, option in reversed(group):
            function = option(function)
        names = [name for name, _ in group]
        function = click.option_panel(title, options=names)(function)
    return click.argument("paths", nargs=-1, metavar="FILE|DIR ...")(function)
