"""The process that calls a job's function: points in, results out (`watched`).

A function may print, raise anything or return anything; only what ends the process is left to the
parent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from headwright.crew.function import named, source_digest
from headwright.crew.values import NotPlain, result_text
from headwright.errors import InputError
from headwright.watched.answering import answer_lines

MOST_MESSAGE = 500  # characters
# The text of a value or None, the error, and the seconds that it took
Result = tuple[str | None, str, float]


def main(function: str) -> None:
    """`function` is imported before this process says that it is ready."""
    with suppress(BaseException):  # whoever asks for it is told
        _loaded(function)
    answer_lines(respond)


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """`{"results": [...]}` for the points, or `{"refused": why}` where there is no such function
    here."""
    function = request["function"]
    try:
        source, call = _loaded(function)
    except InputError as reason:
        return {"refused": f"{reason.got} ({reason.wanted})"}
    except BaseException as reason:
        return {"refused": message(reason)}
    if source != request["source"]:
        return {"refused": f"another source of {function.partition(':')[0]}"}
    return {"results": [_result(call, point) for point in request["points"]]}


@lru_cache(maxsize=64)
def _loaded(function: str) -> tuple[str, Callable[..., Any]]:
    """The digest of its source and itself, both as they were when this process imported it."""
    return source_digest(function), named(function)


def _result(call: Any, point: str) -> Result:
    parameters = json.loads(point)
    start = time.perf_counter()
    text = None
    error = ""
    try:
        text = result_text(call(**parameters))
    except NotPlain as reason:
        error = f"NotPlain: the function returned what JSON does not have: {one_line(reason)}"
    except BaseException as reason:  # a job that asks Python to exit is a failed job
        error = message(reason)
    return text, error, time.perf_counter() - start


def message(reason: BaseException) -> str:
    """Type and message in one line."""
    words = one_line(reason)
    name = type(reason).__name__
    return f"{name}: {words}" if words else name


def one_line(reason: BaseException) -> str:
    try:
        words = " ".join(str(reason).split())
    except BaseException:  # its own words fail, too
        words = ""
    return words.encode("utf-8", errors="backslashreplace").decode("utf-8")[:MOST_MESSAGE]
