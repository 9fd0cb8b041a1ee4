"""The process that calls a job's function: points in, results out (`watched`).

A function may print, raise anything or return anything; only what ends the process is left to the
parent.
"""

from __future__ import annotations

import json
import time
from typing import Any

from headwright.crew.function import named, source_digest
from headwright.crew.values import NotPlain, text_of
from headwright.watched import answer_lines

MOST_MESSAGE = 500  # characters
# The text of a value or None, the error, and the seconds that it took
Result = tuple[str | None, str, float]


def main() -> None:
    answer_lines(respond)


def respond(request: dict[str, Any]) -> dict[str, Any]:
    """`{"results": [...]}` for the points, or `{"refused": why}` where there is no such function
    here."""
    function = request["function"]
    try:
        if source_digest(function) != request["digest"]:
            return {"refused": f"another source of {function.partition(':')[0]}"}
        call = named(function)
    except BaseException as reason:
        return {"refused": message(reason)}
    return {"results": [_result(call, point) for point in request["points"]]}


def _result(call: Any, point: str) -> Result:
    parameters = json.loads(point)
    start = time.perf_counter()
    text = None
    error = ""
    try:
        text = text_of(call(**parameters))
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
