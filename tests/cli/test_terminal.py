"""Tables in terminals of any width: no word and no number is cut."""

import re

import pytest
from rich.console import Console
from rich.table import Table

from headwright.cli.terminal.screen import fitted

WORDS = ("1000", "headwright", "1.044e-05", "0.005186", "2.132", "3.886e-10")


def _table():
    table = Table("keys", "solver", "seconds", "ratio to ours", "length", "gap", title="a title")
    table.add_row("1000 x 64", "headwright", "1.044e-05", "0.005186", "2.132", "3.886e-10")
    return table


def _shown(columns):
    console = Console(width=columns)
    with console.capture() as captured:
        console.print(fitted(_table(), console))
    return captured.get()


@pytest.mark.parametrize("columns", range(24, 120, 3))
def test_every_word_is_whole_and_no_line_too_long(columns):
    shown = _shown(columns)

    assert max(map(len, shown.splitlines())) <= columns
    assert [word for word in WORDS if word not in shown] == []


def test_lines_go_first_and_then_the_columns():
    assert "│" in _shown(100)
    assert "│" not in _shown(60)
    assert re.search(r"^seconds +1.044e-05 *$", _shown(40), re.MULTILINE)
