"""Robust design: the heads that do best on average when the keys are random.

    minimise over queries (and head weights)   E || sum_h mix_h c_h - t ||^2,     ||q_h|| <= budget

The expectation and its gradient are exact integrals (`headwright.noise`), so plain quasi-Newton
works. Starts are the designs of the noiseless keys; a fixed set of sampled keys (`descent`) brings
them close, because there a step costs milliseconds, and exact steps finish. What is reported is
exact, and checked by fresh samples that took no part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from headwright import inputs
from headwright.blocks import blocks, in_threads
from headwright.design.effect import measured
from headwright.design.options import Options
from headwright.design.proofs.certificate import examine
from headwright.design.record import Design, Robustness
from headwright.design.several.descent import (
    Aim,
    Ball,
    drawn_keys,
    drawn_misses,
    exact_descent,
    sampled_descent,
)
from headwright.design.several.noiseless import noiseless_design
from headwright.design.storage import rounded
from headwright.design.target import Target, Wanted
from headwright.errors import InputError
from headwright.keys import GaussianKeys
from headwright.result import to_numpy
from headwright.types import Array, Float, Heads, Mix

# Without a budget queries may be this much longer than the noiseless design: sharpness is what
# noise punishes.
_BUDGET = 4.0
# Starts lie this far inside the budget.
_INSIDE = 0.95
_PUSHED_LENGTH = 0.9
_CHECK_NUMBERS = 4e7  # key coordinates drawn for the sampled check
_BATCH_NUMBERS = 1e6  # and at a time
# Of the exact integrals, in squared error: promised per entry 1e-8, and there are several
_ACCURACY = 1e-7
_LENGTHS = np.linspace(0.1, 1.0, 10)


def robust_design(want: Wanted, law: Any, *, heads: int | str, options: Options) -> Design:
    """The best heads under `law`, beside the textbook ones: one head per face, along its keys."""
    aim = _aim(want, law, options)
    count = len(want.target.support) if heads == "auto" else heads
    start = noiseless_design(want, count, options)
    if start.status not in ("reached", "nearest"):
        return replace(start, message=f"no noiseless design to start from: {start.message}")

    budget = _BUDGET * start.norm if options.budget is None else options.budget
    budget = inputs.number("budget", budget, low=0.0, open_ends=True)
    textbook = _textbook(aim, want, start, budget)
    starts = [_within(start.queries, budget), textbook, *_pushed(want, start.faces, budget)]
    ball = Ball(budget, uniform=options.uniform)
    queries, mix = sampled_descent(aim, starts, start.mix, ball=ball, seed=options.seed)
    queries, mix = exact_descent(aim, queries, mix, ball=ball, seconds=options.seconds)

    nothing_kept = np.zeros((0, queries.shape[1]))
    queries = np.stack([rounded(q, nothing_kept, options.storage) for q in queries])
    report = _report(aim, (queries, mix), (textbook, start.mix), budget, options.seed)
    return _design(want, start, queries, mix, report)


def _aim(want: Wanted, law: Any, options: Options) -> Aim:
    n, d = want.keys.shape
    if not isinstance(law, GaussianKeys) or tuple(law.means.shape) != (n, d):
        raise InputError(
            wanted=f"law as GaussianKeys of {n} keys in {d} dimensions",
            got=repr(law)[:80],
            attempt="law=GaussianKeys(K, isotropic=1e-4)",
        )
    values = np.eye(n)
    if options.values is not None:
        _, (values,) = inputs.arrays(values=options.values)
        values = inputs.shape("values", to_numpy(values).astype(float), n, "v")
    output = want.target.dense(n) @ values
    return Aim(law, values, output, want.scale, want.bias)


def _within(queries: Heads, budget: float) -> Heads:
    length = np.linalg.norm(queries, axis=1, keepdims=True)
    return queries * np.minimum(1.0, _INSIDE * budget / np.maximum(length, 1e-300))


def _textbook(aim: Aim, want: Wanted, start: Design, budget: float) -> Heads:
    """Heads along the sum of their keys, at the best common length within the budget."""
    rows = [want.keys[list(face.support)].sum(axis=0) for face in start.faces]
    sums = np.stack(rows) * np.sign(want.scale)
    unit = sums / _row_lengths(sums)
    scaled = [unit * budget * t for t in _LENGTHS]
    return min(scaled, key=lambda queries: aim.error(queries, start.mix))


def _pushed(want: Wanted, faces: tuple[Target, ...], budget: float) -> list[Heads]:
    """Along the head's own keys, away from all others: a key that shrinks or flips then still
    wins."""
    centre = want.keys.mean(axis=0)
    out = []
    for push in (1.0, 3.0):
        rows = [want.keys[list(face.support)].mean(axis=0) - push * centre for face in faces]
        heads = np.stack(rows) * np.sign(want.scale)
        out.append(_PUSHED_LENGTH * budget * heads / _row_lengths(heads))
    return out


def _row_lengths(rows: Heads) -> Array:
    return np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def _report(
    aim: Aim, found: tuple[Heads, Mix], textbook: tuple[Heads, Mix], budget: float, seed: int
) -> Robustness:
    error = aim.error(*found)
    book = aim.error(*textbook)
    samples = int(np.clip(_CHECK_NUMBERS / aim.law.means.size, 2_000, 200_000))
    (mine, mine_error), (theirs, theirs_error) = _sampled(aim, (found, textbook), samples, seed)
    return Robustness(
        error=error,
        textbook=book,
        accuracy=_ACCURACY,
        gain=book / max(error, _ACCURACY),
        sampled=mine,
        sampled_error=mine_error,
        textbook_sampled=theirs,
        textbook_sampled_error=theirs_error,
        budget=budget,
        samples=samples,
        seed=seed,
    )


def _sampled(
    aim: Aim, designs: tuple[tuple[Heads, Mix], ...], samples: int, seed: int
) -> list[tuple[float, float]]:
    """Mean squared error of each design on the same drawn keys, with its standard error. Of a key
    only its coordinates in the span of all queries are drawn: nothing else is seen of it."""
    directions, _ = np.linalg.qr(np.concatenate([queries for queries, _ in designs]).T)
    law = aim.law.along(directions)
    seen = [(queries @ directions, mix) for queries, mix in designs]

    def squares(keys: Float[Array, "n s r"], queries: Heads, mix: Mix) -> Float[Array, "s"]:
        _, miss = drawn_misses(aim, keys, queries, mix)
        return np.einsum("vs,vs->s", miss, miss)

    def errors(part: slice) -> list[Array]:
        # Fresh keys: no generator here is the one the descent used.
        rng = np.random.default_rng([seed, 1, part.start])
        drawn = drawn_keys(law, rng, part.stop - part.start)
        return [np.concatenate([squares(keys, *design) for keys in drawn]) for design in seen]

    batch = max(1, int(_BATCH_NUMBERS / aim.law.means.size))
    parts = blocks(samples, batch, aim.values)
    drawn = in_threads(errors, parts, aim.values)
    means = []
    for found in zip(*drawn, strict=True):
        row = np.concatenate(found)
        deviation = float(row.std(ddof=1) / np.sqrt(len(row)))
        means.append((float(row.mean()), deviation))
    return means


def _design(want: Wanted, start: Design, queries: Heads, mix: Mix, report: Robustness) -> Design:
    """The noiseless claims are those of the certificate; nothing is claimed about shorter queries
    or a split."""
    design = replace(
        start,
        lower_bound=0.0,
        faces=(),
        robust=report,
        proof=None,
        fewest_heads=1,
        fewest_heads_when="always",
        **measured(want, queries, mix, faces=()),
    )
    found = examine(design.promise(), want.keys)
    least = "at least " if report.error < report.accuracy else ""
    better = f"{least}{report.gain:.3g} times less squared error than the textbook heads"
    off = f"a weight is {found.weights_error:.3g} from its share"
    at_rest = f"without noise the leak is {design.leak:.3g} and {off}"
    status = "reached" if found.holds else "nearest"
    return replace(design, status=status, message=f"{better}; {at_rest}")
