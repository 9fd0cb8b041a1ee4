"""Rows that see nothing, and masks of -inf: what the layer does with them.

NaN, zeros and the average of the values are policies, which are named and not judged. A row that
sees something must not suffer from another that does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.layer import CAUSAL, PAIRS, Options, Refusal, Sizes
from headwright.probes.numerics.case import Case, Judged, drawn
from headwright.probes.numerics.law import Law
from headwright.probes.numerics.precision import accuracy
from headwright.probes.record import BROKEN, HOLDS, Counterexample

_STREAM = 1020
_SAME = 0.05  # outputs of size 1, in any dtype


def rows(exam: Examination, law: Law, sizes: Sizes) -> Iterator[Judged]:
    if PAIRS in exam.layer.takes:
        yield from _masked(exam, law, drawn(exam, _STREAM, "", sizes))
    if CAUSAL in exam.layer.takes:
        yield from _more_queries(exam, replace(sizes, batch=1, tokens=5, keys=2))


def _masked(exam: Examination, law: Law, case: Case) -> Iterator[Judged]:
    layer = exam.layer
    queries, keys = law.bias.shape[-2:]
    seen = np.ones((case.given.batch, 1, queries, keys), bool)
    seen[..., 1] = False
    try:
        output = layer.run(case.given, Options(pairs=seen))
    except Refusal:
        return
    if not _follows(output, law, seen, case, layer.dtype):
        return  # it means something else by its mask: another property's business
    if law.sees.all():
        yield from _first_half_hidden(exam, case, seen)
    seen[:, :, 0] = False
    try:
        output = layer.run(case.given, Options(pairs=seen))
    except Refusal:
        return
    yield Judged(HOLDS, f"a query that sees nothing gets {_policy(output[:, :, 0], case)}")
    yield _others(output, law, case, "Options(pairs=seen)")
    yield from _additive(exam, law, case, seen)


def _first_half_hidden(exam: Examination, case: Case, seen: np.ndarray) -> Iterator[Judged]:
    """A first block in which nothing is seen: blockwise kernels take -inf from -inf there."""
    half = seen.shape[-1] // 2
    later = np.ones_like(seen)
    later[..., :half] = False
    try:
        output = exam.layer.run(case.given, Options(pairs=later))
    except Refusal:
        return
    if np.isfinite(output).all():
        return
    words = f"where keys 0 to {half - 1} are hidden from all, the output is not finite"
    script = (
        f"{case.script}seen = np.ones({seen.shape}, bool)\n"
        f"seen[..., :{half}] = False\n"
        f"assert np.isfinite(layer.run(x, Options(pairs=seen))).all(), {words!r}\n"
    )
    yield Judged(BROKEN, words, shown=Counterexample(words, script, float("inf"), 0.0))


def _follows(output: np.ndarray, law: Law, seen: np.ndarray, case: Case, dtype: str) -> bool:
    masked = replace(law, bias=np.where(seen[0], law.bias, -np.inf))
    return accuracy(output, masked, case.given, dtype).status != BROKEN


def _additive(exam: Examination, law: Law, case: Case, seen: np.ndarray) -> Iterator[Judged]:
    """0 and -inf, added to the logits, where the keyword takes that: one of zeros changes
    nothing."""
    layer = exam.layer
    everything = Options(pairs=np.ones_like(seen), additive=True)
    try:
        same = np.abs(layer.run(case.given, everything) - layer.run(case.given)).max()
        if not same < _SAME:
            return
        output = layer.run(case.given, Options(pairs=seen, additive=True))
    except Refusal:
        return
    yield _others(output, law, case, "Options(pairs=seen, additive=True)")


def _others(output: np.ndarray, law: Law, case: Case, call: str) -> Judged:
    """The rows that see something are numbers; key 1 is hidden from all, every key from query 0."""
    shape = (case.given.batch, 1, *law.bias.shape[-2:])
    see = np.asarray(np.delete(law.sees, 1, axis=-1).any(axis=-1))[:, 1:].all()
    if np.isfinite(output[:, :, 1:]).all() or not see:
        return Judged(HOLDS)
    words = "where query 0 sees nothing, the output of other queries is NaN"
    script = (
        f"{case.script}seen = np.ones({shape}, bool)\n"
        "seen[..., 1] = False\n"
        "seen[:, :, 0] = False\n"
        f"assert np.isfinite(layer.run(x, {call})[:, :, 1:]).all(), {words!r}\n"
    )
    return Judged(BROKEN, words, shown=Counterexample(words, script, float("inf"), 0.0))


def _more_queries(exam: Examination, sizes: Sizes) -> Iterator[Judged]:
    """Causal with five queries and two keys: the first three see nothing where the last query is at
    the last key."""
    case = drawn(exam, _STREAM + 1, "", sizes)
    try:
        output = exam.layer.run(case.given, Options(causal=True))
    except Refusal:
        return
    first = output[:, :, :3]
    if np.isfinite(first).all() and first.any():
        return
    policy = _policy(first, case)
    yield Judged(HOLDS, f"causal with 5 queries and 2 keys, queries 0-2 get {policy}")


def _policy(found: np.ndarray, case: Case) -> str:
    if np.isnan(found).all():
        return "NaN"
    if not np.isfinite(found).all():
        return "some NaN or infinite numbers"
    if not found.any():
        return "zeros"
    mean = case.given["v"].mean(axis=-2)
    same = found.shape == mean.shape and np.abs(found - mean).max() < _SAME * np.abs(mean).max()
    return "the average of all values" if same else "numbers of its own"
