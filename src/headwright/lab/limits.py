"""How much one request may ask for, and how much the page can show. A limit reached is answered in
words; nothing else happens.
"""

from __future__ import annotations

from typing import Any

from headwright.errors import InputError

CONNECTIONS = 100  # that may be open without a whole request
BODY_BYTES = 1 << 20
BODY_SECONDS = 10.0  # to send the body
ENTRIES = 100_000  # numbers in all arrays of a request together
TEXT = 200_000  # characters of an answer to be judged
DEPTH = 8  # nesting of lists and objects
SECONDS = 10.0  # of one engine call; its process is ended afterwards
GRACE = 1.0  # for an engine whose visitor has left, before it is ended too
PATIENCE = 60.0  # waiting for a free engine
MEMORY = 4 << 30  # address space of one engine process

# What the page can show. It is told so in data/site.json; links, pasted data and notebooks are held
# to the same numbers. `size` is the largest coordinate, `samples` the most dots of a cloud.
PAGE = {
    "keys": 64,
    "dimension": 64,
    "heads": 6,
    "samples": 5_000,
    "sharpness": 100_000,
    "size": 1_000_000,
}


def measured(body: Any, *, depth: int = 0) -> int:
    """Count the numbers in a request and refuse what nests or grows beyond the limits."""
    if depth > DEPTH:
        raise InputError(
            wanted=f"lists nested at most {DEPTH} deep",
            got="more",
            attempt="send K as a list of rows",
        )
    if isinstance(body, str) and len(body) > TEXT:
        raise InputError(
            wanted=f"at most {TEXT:,} characters",
            got=f"{len(body):,}",
            attempt="judge one answer at a time",
        )
    if not isinstance(body, (list, dict)):
        return 1
    parts = body.values() if isinstance(body, dict) else body
    if len(body) > ENTRIES:
        _refuse_size()
    total = sum(measured(part, depth=depth + 1) for part in parts)
    if total > ENTRIES:
        _refuse_size()
    return total


def _refuse_size() -> None:
    raise InputError(
        wanted=f"at most {ENTRIES:,} numbers in one request",
        got="more",
        attempt="use the Python package for large arrays; it has no such limit",
    )
