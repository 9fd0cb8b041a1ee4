"""Text on the way to a terminal, without tables and colours."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys

# C0 and C1 but tab and line feed, marks that turn the direction of writing, and halves of surrogate
# pairs.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: object) -> str:
    """`text` on one line, with control characters spelled out: a name with an escape reads
    `\\x1b[31m`."""
    spelled = CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))
    return " ".join(spelled.split())


def complain(place: str, words: object) -> None:
    """One line on stderr."""
    if sys.stderr is not None:
        sys.stderr.write(f"{place}: {one_line(words)}\n")
        sys.stderr.flush()


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
