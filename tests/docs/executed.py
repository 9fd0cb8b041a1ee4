"""A page, executed: every block in order, in the folder it starts in, against what it shows."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.docs.options import faults_of
from tests.docs.page import Block
from tests.docs.shell import commands, run

_SHELL = ("bash", "console")
_READ = {"toml": tomllib.loads, "json": json.loads}
_SAME = doctest.OutputChecker()


def execute(blocks: tuple[Block, ...], page: str) -> Iterator[str]:
    """Runs the page as it is iterated over; every item is what a reader would call a mistake."""
    names: dict = {"__name__": "page"}
    for block in blocks:
        place = f"{page}:{block.line}"
        for mistake in _mistakes(block, names, place):
            yield f"{place}: {mistake}"


def _mistakes(block: Block, names: dict, place: str) -> Iterator[str]:
    if block.saved_as is not None:
        with Path(block.saved_as).open("a" if block.appended else "w", encoding="utf-8") as file:
            file.write(block.text)
    elif block.not_run is not None:
        yield from _unfit(block)
    elif block.kind in _SHELL:
        yield from _in_a_shell(block)
    elif block.kind == "python":
        yield from _in_python(block, names, place)
    elif block.kind in _READ:
        _READ[block.kind](block.text)
    else:
        yield f"what is a block of {block.kind or 'nothing'}? <!-- not run: REASON --> says it"


def _unfit(block: Block) -> Iterator[str]:
    """Nothing runs, but commands must be ones that there are."""
    if block.kind in _SHELL:
        for command in commands(block.kind, block.text):
            yield from (f"{command}: {fault}" for fault in faults_of(command))
    elif block.kind == "python":
        compile(block.text, "page", "exec")


def _in_a_shell(block: Block) -> Iterator[str]:
    printed = ""
    for command in commands(block.kind, block.text):
        printed = run(command)
        if command.shown.strip():
            yield from _difference(_in_one_line(command.shown), _in_one_line(printed))
    if block.output is not None:
        yield from _difference(_in_one_line(block.output), _in_one_line(printed))


def _in_python(block: Block, names: dict, place: str) -> Iterator[str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, place, "exec"), names)
    yield from _difference(block.output or "", printed.getvalue())


def _in_one_line(text: str) -> str:
    """Where a terminal breaks its lines and how long it rules them is no promise. An ellipsis
    stands for its neighbouring blanks, too."""
    in_one = re.sub(r"─+", "─", " ".join(text.split()))
    return re.sub(r" (?=\.\.\.)|(?<=\.\.\.) ", "", in_one)


def _difference(shown: str, printed: str) -> Iterator[str]:
    """`...` stands for anything, as in doctests."""
    if not _SAME.check_output(shown, printed, doctest.ELLIPSIS):
        yield f"shown:\n{shown}\nprinted:\n{printed}"
