"""A text fed piece by piece with a cache gets the outputs of one pass: token by token, in chunks,
far past any window, two texts in turn, and with padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.agreement.asking.causal import is_causal
from headwright.probes.agreement.asking.compared import Compared, compared, judged
from headwright.probes.agreement.asking.decoding import Way, decoded, in_turn, way_of
from headwright.probes.agreement.asking.padded import LEFT, Padded
from headwright.probes.agreement.asking.written import array_written, call_written, written
from headwright.probes.agreement.corner import last_queries
from headwright.probes.examination import Examination
from headwright.probes.layer.layer import CACHE, CAUSAL, MASK, POSITIONS, Options, Refusal
from headwright.probes.record import HOLDS, NOT_APPLICABLE, UNCLEAR, Finding

NAME = "cache"
_STREAM = 700
# Prefill and then one token; all tokens one by one; chunks; far past a window, token by token and
# after a long prefill.
_PIECES = {
    "a prefill and one token": (7, 1),
    "8 tokens one by one": (1,) * 8,
    "chunks of 4, 3 and 1 tokens": (4, 3, 1),
    "24 tokens one by one": (4, *[1] * 24),
    "tokens and a chunk after 66": (66, 1, 1, 1, 5),
}
_TURNS = (5, 1, 1, 1)
_LENGTHS = (8, 6)  # of two texts that are padded on the left
_COUNTS = "with positions given it agrees: without, it does not count on from the cache"
_PIECE_BY_PIECE = "decoded"
_ONE_BY_ONE = "in_turn"


@dataclass(frozen=True)
class _Task:
    """One pass against pieces. `real` are the tokens that count."""

    words: str
    pieces: tuple[int, ...]
    batch: int
    options: Options
    real: np.ndarray | None = None
    how: str = _PIECE_BY_PIECE


def probe(exam: Examination) -> Finding:
    if exam.layer.form == "qkv":
        return last_queries(exam, NAME, _STREAM)
    if CACHE not in exam.layer.takes:
        return Finding(NAME, NOT_APPLICABLE, "it takes no cache")
    plain = Options()
    if not is_causal(exam, plain):
        plain = Options(causal=True)
        if CAUSAL not in exam.layer.takes or not is_causal(exam, plain):
            return Finding(NAME, NOT_APPLICABLE, "it is not causal")
    way = way_of(exam.layer)
    found = [one for task in _tasks(exam, plain) for one in _both(exam, way, task)]
    if not found:
        return Finding(NAME, UNCLEAR, "the layer refused every text that was fed in pieces")
    said = f"{len(found)} texts fed in pieces get the outputs of one pass (cache: {way.words})"
    return judged(NAME, found, said)


def _tasks(exam: Examination, plain: Options) -> Iterator[_Task]:
    for words, pieces in _PIECES.items():
        yield _Task(words, pieces, 2 if len(pieces) == 3 else 1, plain)
    yield _Task("two texts in turn, each with its cache", _TURNS, 2, plain, how=_ONE_BY_ONE)
    if MASK in exam.layer.takes:
        shape = Padded(_LENGTHS, sum(_TURNS), LEFT)
        options = replace(plain, mask=shape.real)
        yield _Task("texts padded on the left", _TURNS, 2, options, shape.real)


def _both(exam: Examination, way: Way, task: _Task) -> list[Compared]:
    """Without positions, where the layer must count from the cache, and with them."""
    bare = _compared(exam, way, task)
    if POSITIONS not in exam.layer.takes:
        return [] if bare is None else [bare]
    n = sum(task.pieces)
    positions = np.tile(np.arange(n), (task.batch, 1))
    if task.real is not None:
        positions = Padded(_LENGTHS, n, LEFT).positions
    told = replace(task, options=replace(task.options, positions=positions))
    told = replace(told, words=f"{task.words}, positions given")
    given = _compared(exam, way, told)
    if bare is not None and bare.status != HOLDS and given is not None and given.status == HOLDS:
        bare = replace(bare, why=_COUNTS)
    return [one for one in (bare, given) if one is not None]


def _compared(exam: Examination, way: Way, task: _Task) -> Compared | None:
    """None where the layer refuses such a text, or such pieces of it."""
    sizes = replace(exam.layer.sizes, batch=task.batch, tokens=sum(task.pieces))
    given = exam.draw(_STREAM, sizes)
    fed: Callable[..., np.ndarray] = decoded if task.how == _PIECE_BY_PIECE else in_turn
    try:
        whole = exam.layer.run(given, task.options)
        pieces = fed(exam.layer, given, task.pieces, task.options, way)
        bound = exam.rounding(given, task.options)
    except Refusal:
        return None
    real = np.ones(whole.shape[:2], bool) if task.real is None else task.real
    if pieces.shape == whole.shape:
        whole = np.where(real[..., None], whole, 0.0)
        pieces = np.where(real[..., None], pieces, 0.0)
    script = _script(task, exam.draw_line(_STREAM, sizes))
    return compared(f"{task.words}, against one pass", whole, pieces, bound, script)


def _script(task: _Task, draw: str) -> str:
    options = written(task.options)
    more = f", {options}" if options else ""
    lines = [
        f"from headwright.probes.agreement.asking.decoding import {task.how}\n",
        f"x = {draw}",
        f"one = {call_written('x', task.options)}",
        f"other = {task.how}(layer, x, {task.pieces}{more})",
    ]
    if task.real is not None:
        lines.append(f"real = {array_written(task.real)}[..., None]")
        lines.append("one = np.where(real, one, 0)")
        lines.append("other = np.where(real, other, 0)")
    return "\n".join(lines) + "\n"
