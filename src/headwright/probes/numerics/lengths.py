"""Lengths at which blocks end raggedly and sums in half precision stop growing: 65, 137 and 1025.

At 65 and 137 the layer itself says, with equal logits, whom a query sees and with what bias, since
windows and slopes may show only there; keys that nobody sees, or unequal weights where there was no
bias at 6 keys, are breaks of their own. At 1025 nearly equal logits fill the sums.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Refusal, Sizes
from headwright.probes.numerics.case import Case, Judged, drawn, judged
from headwright.probes.numerics.fitting import effective_weights
from headwright.probes.numerics.law import Law
from headwright.probes.record import BROKEN, HOLDS, Counterexample

_RAGGED = (65, 137)
_LONG = 1025
_FEW = 5  # queries are enough there, if the layer takes fewer than keys
_STREAM = 1030
_VALUES = 5  # a size of values other than that of keys
_PATIENCE = 0.5  # seconds, after which longer rows are not tried
_PLACE = 1e-5  # in the mean place of keys; one key more or less moves it by 1 / (2 n)
_UNEVEN = 0.01  # share by which weights of equal logits may differ


def lengths(exam: Examination, twin: Layer, law: Law, sizes: Sizes) -> Iterator[Judged]:
    """`twin` is the layer in its widest dtype, `law` the one at the small `sizes`."""
    if law.sink is not None or law.normalised:
        return
    start = time.monotonic()
    try:
        for n in _RAGGED:
            there = replace(sizes, batch=1, tokens=n, value_width=_VALUES)
            yield _ragged(exam, twin, law, there)
            if time.monotonic() - start > _PATIENCE:
                yield Judged(HOLDS, f"more than {n} keys were not tried: the layer is slow")
                return
    except Refusal:
        return
    if law.bias[law.sees].any():
        return
    for queries in (_FEW, _LONG):
        there = replace(sizes, batch=1, heads=1, tokens=queries, keys=_LONG)
        try:
            found = _long(exam, twin, law, there)
        except Refusal:
            continue
        if found is not None:
            yield found
            return


def _ragged(exam: Examination, twin: Layer, law: Law, sizes: Sizes) -> Judged:
    n = sizes.tokens
    case = _drawn(exam, _STREAM + n, f"with {n} keys", sizes)
    equal = effective_weights(twin, case.given.replaced(q=0 * case.given["q"]))[0]
    wrong = _equal_weights_wrong(equal, law, n)
    if wrong:
        return Judged(BROKEN, wrong, shown=_equal_counterexample(case, wrong, law))
    with np.errstate(divide="ignore"):
        bias = np.log(equal)
    bias -= bias.max(axis=-1, keepdims=True)
    if not law.bias[law.sees].any():
        bias = np.where(np.isfinite(bias), 0.0, -np.inf)
    return judged(exam, replace(law, bias=bias), case)


def _drawn(exam: Examination, stream: int, words: str, sizes: Sizes) -> Case:
    """With values of their own size where the layer takes them."""
    case = drawn(exam, stream, words, sizes)
    try:
        exam.layer.run(case.given)
    except Refusal:
        return drawn(exam, stream, words, replace(sizes, value_width=None))
    return case


def _equal_weights_wrong(weights: np.ndarray, law: Law, n: int) -> str:
    """In words; empty where nothing is wrong."""
    if not np.isfinite(weights).all():
        return f"with {n} keys and equal logits the weights are NaN"
    seen = weights > 0
    few = np.logical_not(law.sees.any(axis=-2))
    unseen = np.logical_not(seen.any(axis=-2))
    if few.sum(axis=-1).tolist() != unseen.sum(axis=-1).tolist():
        return f"nobody sees {_listed(few)} of {few.shape[-1]}, and {_listed(unseen)} of {n}"
    totals = weights.sum(axis=-1)[seen.any(axis=-1)]
    if np.abs(totals - 1).max(initial=0.0) > _UNEVEN:
        worst = totals[np.argmax(np.abs(totals - 1))]
        return f"with {n} keys and equal logits the weights sum to {worst:.4g}"
    if law.bias[law.sees].any():
        return ""
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    uneven = np.where(seen, np.abs(weights * count - 1), 0.0)
    if uneven.max() > _UNEVEN:
        head, row, _ = np.unravel_index(int(uneven.argmax()), uneven.shape)
        some = weights[head, row][seen[head, row]]
        return (
            f"with {n} keys and equal logits the weights of a query are from {some.min():.3g} to "
            f"{some.max():.3g}, wanted all the same"
        )
    return ""


def _listed(keys: np.ndarray) -> str:
    """Of the first head that has some."""
    head = int(keys.any(axis=-1).argmax())
    places = np.flatnonzero(keys[head])
    if len(places) == 0:
        return "no key"
    return f"key {places[0]}" if len(places) == 1 else f"keys {places[0]}-{places[-1]}"


def _equal_counterexample(case: Case, words: str, law: Law) -> Counterexample:
    """The value 1 for one key after another gives its weights."""
    few = int((~law.sees.any(axis=-2)).sum(axis=-1).max())
    script = (
        f"{case.script}x = x.replaced(q=0 * x['q'])\n"
        "weights = []\n"
        "for j in range(x['k'].shape[-2]):\n"
        "    v = 0 * x['v']\n"
        "    v[..., j, 0] = 1\n"
        "    weights.append(layer.run(x.replaced(v=v))[..., 0])\n"
        "w = np.stack(weights, -1)  # (1, heads, queries, keys)\n"
        f"unseen = (~(w > 0).any(-2)).sum(-1)\n"
        f"assert (unseen == {few}).all(), f'nobody sees {{unseen}} keys'\n"
        f"assert np.allclose(w.sum(-1), 1, atol={_UNEVEN}), w.sum(-1)\n"
        "least = np.where(w > 0, w, np.inf).min(-1)\n"
        f"assert np.allclose(w.max(-1), least, rtol={3 * _UNEVEN}), 'unequal weights'\n"
    )
    return Counterexample(words, script, math.inf, _UNEVEN)


def _long(exam: Examination, twin: Layer, law: Law, sizes: Sizes) -> Judged | None:
    """Key 0 a little above the others, so that what is summed is not 1 but about 0.7, which half
    precision cannot add for long; values above 0, so that nothing cancels. None where the layer is
    neither full nor causal."""
    n = _LONG
    case = drawn(exam, _STREAM + n, f"with {n} keys of nearly equal logits", sizes)
    q = np.zeros_like(case.given["q"])
    q[..., 0] = 2.0 ** round(math.log2(0.35 / abs(law.scale)))
    k = np.zeros_like(case.given["k"])
    k[..., 0, 0] = math.copysign(1.0, law.scale)
    given = case.given.replaced(q=q, k=k, v=np.abs(case.given["v"]))
    bias = _bias_at(twin, given)
    if bias is None:
        return None
    script = (
        f"{case.script}q, k = 0 * x['q'], 0 * x['k']\n"
        f"q[..., 0] = {float(q[..., 0].flat[0])!r}\n"
        f"k[..., 0, 0] = {math.copysign(1.0, law.scale)!r}\n"
        "x = x.replaced(q=q, k=k, v=np.abs(x['v']))\n"
    )
    return judged(exam, replace(law, bias=bias), Case(case.words, given, script))


def _bias_at(twin: Layer, given: Inputs) -> np.ndarray | None:
    """Full or causal, told by the mean place of the keys that a query sees; None for neither."""
    t, n = (given[name].shape[-2] for name in ("q", "k"))
    places = np.zeros_like(given["v"])
    places[..., 0] = np.arange(n) / n
    found = twin.run(given.replaced(q=0 * given["q"], v=places))[0, :, :, 0]
    full = (n - 1) / (2 * n)
    causal = (n - t + np.arange(t)) / (2 * n)
    if np.allclose(found, full, atol=_PLACE):
        return np.zeros((1, t, n))
    if np.allclose(found, causal, atol=_PLACE):
        return np.where(np.tri(t, n, n - t, dtype=bool), 0.0, -np.inf)[None]
    return None
