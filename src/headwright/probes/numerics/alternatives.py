"""One softmax over all keys: the odds of two keys do not depend on a third.

    w_ij / w_im = exp(l_ij - l_im)

whatever the logits are made of: products, rotations, biases, caps. A softmax over parts of the keys
whose results are averaged, or blocks merged without their sums, break it. Weights that become
exactly 0 (top-k, sparsemax) break it on purpose; of them nothing is said.
"""

from __future__ import annotations

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Sizes
from headwright.probes.numerics.case import Judged
from headwright.probes.numerics.fitting import effective_weights
from headwright.probes.record import BROKEN, UNCLEAR, Counterexample

_STREAM = 1050
_MOVES = 0.05  # in log-odds; rounding moves them by less than a tenth of it in single precision
_NO_LAW = "the weights are not the softmax of scaled products of queries and keys"


def judged_alternatives(exam: Examination, twin: Layer, sizes: Sizes) -> Judged:
    """Of weights that follow no law: is it a softmax at all?"""
    rng = np.random.default_rng([exam.seed, _STREAM])
    given = twin.draw(rng, sizes)
    last = given["k"].shape[-2] - 1
    weights = effective_weights(twin, given)
    keys = given["k"].copy()
    keys[..., last, :] *= -2.0
    other = effective_weights(twin, given.replaced(k=keys))
    unclear = Judged(UNCLEAR, f"{_NO_LAW}, so there is no reference")
    if not _distribution(weights) or not _distribution(other):
        return unclear
    # Rows that see the last key and two others.
    logs = np.log(weights[..., :last]) - np.log(other[..., :last])
    spread = logs.max(axis=-1) - logs.min(axis=-1)
    worst = float(spread.max())
    if worst <= _MOVES or twin.eps > 1e-6:
        return unclear
    b, h, i = np.unravel_index(int(spread.argmax()), spread.shape)
    j, m = int(logs[b, h, i].argmax()), int(logs[b, h, i].argmin())
    words = (
        f"the log-odds of keys {j} and {m} move by {worst:.2g} when key {last} changes: this is "
        "not one softmax over all keys"
    )
    place = (0, int(h), int(i))
    example = Counterexample(words, _script(given.text(int(b)), place, (j, m)), worst, _MOVES)
    return Judged(BROKEN, words, shown=example)


def _distribution(weights: np.ndarray) -> bool:
    return bool((weights > 0).all()) and bool(np.allclose(weights.sum(axis=-1), 1, atol=1e-4))


def _script(given: Inputs, row: tuple[int, int, int], pair: tuple[int, int]) -> str:
    q, k = (np.round(given[name], 3).tolist() for name in ("q", "k"))
    return (
        f"q = np.array({q})\n"
        f"k = np.array({k})\n"
        "other = k.copy()\n"
        "other[..., -1, :] *= -2\n"
        "def odds(k):\n"
        "    weights = []\n"
        f"    for j in {pair}:\n"
        "        v = 0 * k\n"
        "        v[..., j, 0] = 1\n"
        "        weights.append(layer.run(Inputs({'q': q, 'k': k, 'v': v}))[..., 0])\n"
        "    return np.log(weights[0] / weights[1])\n"
        f"moved = (odds(k) - odds(other))[{row}]\n"
        f'assert abs(moved) <= {_MOVES}, f"the last key moves the odds of two others: {{moved}}"\n'
    )
