"""What may reach a terminal: no control characters from file names or data, and nothing it cannot
encode.

A file may be called `\x1b]0;owned\x07.npy`. Colours are ours and are added by the console, so
whatever control character is inside a text came from outside.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook
from rich.segment import Segment

# C0 and C1 but tab and line feed, marks that turn the direction of writing, and halves of surrogate
# pairs.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: object) -> str:
    """`text` on one line, with control characters spelled out: a name with an escape reads
    `\\x1b[31m`."""
    spelled = _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))
    return " ".join(spelled.split())


def complain(place: str, words: object) -> None:
    """One line on stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"{place}: {one_line(words)}\n")
        sys.stderr.flush()


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
            yield Segment(text if control else _CONTROLS.sub("", text), style, control)


def replace_unknown_characters() -> None:
    """A character that the terminal's encoding lacks becomes a question mark, and no error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def give_up_output() -> None:
    """Nothing more can be written to stdout: what is left in its buffer must not fail once more at
    the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
