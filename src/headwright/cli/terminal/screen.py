"""The console for what people read, and tables that fit it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from headwright.cli.terminal.plain_text import CONTROLS


def console() -> Console:
    """The console for what people read: tables and texts lose control characters on their way
    out."""
    made = _Console(highlight=False)
    made.push_render_hook(_Tamed())
    return made


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # told apart from a failed check by whoever runs the command


class _Tamed(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_WithoutControls(one) for one in renderables]


class _WithoutControls:
    """Another renderable, drawn as it is but for control characters in its texts (they have no
    width)."""

    def __init__(self, drawn: ConsoleRenderable) -> None:
        self.drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for text, style, control in console.render(self.drawn, options):
            yield Segment(text if control else CONTROLS.sub("", text), style, control)


def fitted(table: Table, console: Console) -> Table:
    """The table with its lines where there is room, without them where there is less, and its rows
    as lists one under another where that is not enough either."""
    columns = len(table.columns)
    # With lines: a blank on either side of every cell, a line between two and at both ends
    if _narrowed(table, console.width - (3 * columns + 1)):
        return table
    table.box = None
    table.pad_edge = False
    table.padding = (0, 1, 0, 0)
    return table if _narrowed(table, console.width - (columns - 1)) else _as_lists(table)


def _narrowed(table: Table, room: int) -> bool:
    """Gives every column as much as its longest word needs, and what is left to the first that can
    use it. False where there is not enough for the words."""
    texts = [[_plain(text) for text in (one.header, *one.cells)] for one in table.columns]
    least = [max(cell_len(word) for text in some for word in ["", *text.split()]) for some in texts]
    spare = room - sum(least)
    if spare < 0:
        return False
    for column, some, width in zip(table.columns, texts, least, strict=True):
        more = min(spare, max(map(cell_len, some)) - width)
        spare -= more
        column.width = width + more
    return True


def _plain(text: RenderableType) -> str:
    return text.plain if isinstance(text, Text) else Text.from_markup(str(text)).plain


def _as_lists(table: Table) -> Table:
    """Each row as lines of a name and a value; names without a value are left out."""
    listed = Table.grid(padding=(0, 2, 0, 0))
    listed.title = table.title
    listed.caption = table.caption
    listed.add_column(style="dim")
    listed.add_column(overflow="fold")
    for row in zip(*(column.cells for column in table.columns), strict=True):
        if listed.row_count:
            listed.add_row("", "")
        for column, cell in zip(table.columns, row, strict=True):
            if _plain(cell):
                listed.add_row(column.header, cell)
    return listed
