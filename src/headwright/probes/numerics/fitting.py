"""The law behind a function of (q, k, v), fitted to its effective weights.

Values that form the identity give the weights. Their logarithms are, row by row and up to a number
per row, the logits; what in them does not change from draw to draw is the bias, what follows the
products gives the scale. Draws with large products show whether the logits bend (a soft cap).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import Layer, Refusal
from headwright.probes.numerics.law import Law, products

# Spare columns, so that the size of the values is neither that of the keys nor their number.
SPARE = 7
# A law is the right one when what it leaves unexplained of the logits is below this share, and near
# enough to be judged by when it is below the second: half precision, a rough exponential.
_EXACT = 1e-3
_NEAR = 0.05
_RANGE = (0.5, 2000.0)  # of soft caps
_ROUND = 1e-5  # relative


@dataclass(frozen=True)
class Sample:
    """Weights (r, h, t, n) found for queries and keys; r draws."""

    given: Inputs
    weights: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """(h, t, n): keys whose weight is above 0 in every draw."""
        return np.asarray((self.weights > 0).all(axis=0))

    def head(self, head: int) -> Sample:
        """One head alone; grouped keys are those of the first head."""
        q = self.given["q"][:, [head]]
        k = self.given["k"][:, [min(head, self.given["k"].shape[1] - 1)]]
        return Sample(self.given.replaced(q=q, k=k), self.weights[:, [head]])

    @property
    def unseen(self) -> np.ndarray:
        return np.asarray((self.weights == 0).all(axis=0))


def effective_weights(layer: Layer, given: Inputs) -> np.ndarray:
    """(b, h, t, n): the identity as values, in stretches of the key size where a layer insists on
    values of that size."""
    keys = given["k"].shape[-2]
    width = keys + SPARE
    try:
        return _columns(layer, given, 0, width)[..., :keys]
    except Refusal:
        width = given["k"].shape[-1]
    parts = [_columns(layer, given, start, width) for start in range(0, keys, width)]
    return np.concatenate(parts, axis=-1)[..., :keys]


def _columns(layer: Layer, given: Inputs, start: int, width: int) -> np.ndarray:
    keys = given["k"].shape[-2]
    block = np.eye(keys, start + width)[:, start:]
    values = np.broadcast_to(block, (*given["v"].shape[:-2], keys, width)).copy()
    return layer.run(given.replaced(v=values))


def fitted(layer: Layer, usual: Inputs, large: Inputs) -> Law | None:
    """None where the weights follow no such law. `large` has the positions of `usual`, and logits
    some times as large."""
    samples = [Sample(given, effective_weights(layer, given)) for given in (usual, large)]
    first = samples[0]
    if not np.isfinite(first.weights).all() or not (first.seen | first.unseen).all():
        return None
    found = _candidates(samples)
    for share in (_EXACT, _NEAR):
        law = next((law for law, unexplained in found if unexplained <= share), None)
        if law is not None:
            return _with_sink(replace(_snapped(law, first), eps=layer.eps), first, share)
    return None


def _candidates(samples: list[Sample]) -> list[tuple[Law, float]]:
    """Laws and the shares that they leave unexplained, the simplest first."""
    made = []
    for normalised in (False, True):
        straight = _straight(samples[0], normalised=normalised)
        if straight is None:
            continue
        law, unexplained = straight
        bends = not normalised and _misses(samples[1], law)
        # What bends looks like a bias to a line: without one first.
        flat = replace(law, bias=np.where(law.sees, 0.0, -np.inf))
        bent = _bent(samples, flat) if bends else None
        if bent is not None and bent[1] > _EXACT:
            bent = _bent(samples, law)
        # Logits that leave the line in another way are judged by the line.
        made.append(bent if bent is not None and bent[1] <= _EXACT else (law, unexplained))
    return [*made, *_by_head(samples[0])]


def _by_head(sample: Sample) -> list[tuple[Law, float]]:
    """A scale for each head."""
    heads = range(sample.weights.shape[1])
    found = [_straight(sample.head(head), normalised=False) for head in heads]
    alone = [one for one in found if one is not None]
    if len(alone) < len(found) or not alone:
        return []
    scales = np.array([law.scale for law, _ in alone])
    bias = np.concatenate([law.bias for law, _ in alone])
    usual = 1 / math.sqrt(sample.given["q"].shape[-1])
    odd = scales[np.argmax(np.abs(scales - usual))]
    return [(Law(float(odd), bias, head_scales=scales), max(share for _, share in alone))]


def _snapped(law: Law, sample: Sample) -> Law:
    """Numbers that a round one explains are that one."""
    usual = 1 / math.sqrt(sample.given["q"].shape[-1])
    scale = usual if math.isclose(law.scale, usual, rel_tol=_ROUND) else law.scale
    if law.cap is None:
        return replace(law, scale=scale)
    near = float(f"{law.cap:.4g}")
    cap = near if math.isclose(law.cap, near, rel_tol=_ROUND) else law.cap
    return replace(law, scale=scale, cap=cap)


def _straight(sample: Sample, *, normalised: bool) -> tuple[Law, float] | None:
    """log w_ij = scale z_ij + bias_ij + c_i by least squares, and the share left unexplained."""
    z = products(sample.given["q"], sample.given["k"], normalised=normalised)
    logs = _centred(np.log(np.where(sample.seen, sample.weights, 1.0)), sample.seen)
    z = _centred(z, sample.seen)
    moving = z - z.mean(axis=0)
    told = logs - logs.mean(axis=0)
    energy = float((moving**2).sum())
    if energy == 0:
        return None
    scale = float((moving * told).sum()) / energy
    left = told - scale * moving
    bias = _settled((logs - scale * z).mean(axis=0), noise=_rms(left))
    law = Law(scale, np.where(sample.seen, bias, -np.inf), normalised=normalised)
    return law, _rms(left) / max(_rms(told), np.finfo(float).tiny)


def _settled(bias: np.ndarray, noise: float) -> np.ndarray:
    """Exactly 0 where the bias is not above the noise of the fit."""
    return np.zeros_like(bias) if np.abs(bias).max() <= 4 * noise + 1e-9 else bias


def _misses(sample: Sample, law: Law) -> bool:
    """Do large products leave the straight line?"""
    told, wanted = _told_and_wanted(sample, law)
    return _rms(told - wanted) > 2 * _EXACT * _rms(told)


def _told_and_wanted(sample: Sample, law: Law) -> tuple[np.ndarray, np.ndarray]:
    seen = sample.seen & law.sees
    logs = _centred(np.log(np.where(seen, sample.weights, 1.0)), seen)
    return logs, _centred(np.where(seen, law.logits(sample.given), 0.0), seen)


def _bent(samples: list[Sample], start: Law) -> tuple[Law, float]:
    """Scale and cap by least squares over all draws."""
    from scipy.optimize import least_squares

    def law(logs: np.ndarray) -> Law:
        scale, cap = np.exp(logs)
        return Law(float(scale), start.bias, float(cap))

    def left(logs: np.ndarray) -> np.ndarray:
        parts = [np.subtract(*_told_and_wanted(sample, law(logs))).ravel() for sample in samples]
        return np.concatenate(parts)

    guess = np.log([max(abs(start.scale), 1e-6), 20.0])
    low = np.array([guess[0] - 5, np.log(_RANGE[0])])
    high = np.array([guess[0] + 5, np.log(_RANGE[1])])
    best = least_squares(left, guess, bounds=(low, high), x_scale="jac")
    told = np.concatenate([_told_and_wanted(sample, start)[0].ravel() for sample in samples])
    return law(best.x), _rms(left(best.x)) / max(_rms(told), np.finfo(float).tiny)


def _with_sink(law: Law, sample: Sample, share: float) -> Law | None:
    """Rows that sum to less than 1 by exp(sink) / (sum_j exp(l_ij) + exp(sink)); None where they
    do not sum to 1 for another reason."""
    rows = sample.seen.any(axis=-1)
    totals = sample.weights.sum(axis=-1)[:, rows]
    if np.abs(totals - 1).max(initial=0.0) <= share:
        return law
    if (totals >= 1).any() or (totals <= 0).any():
        return None
    logits = law.logits(sample.given)
    most = logits.max(axis=-1)
    volume = most + np.log(np.exp(logits - most[..., None]).sum(axis=-1))
    rest = np.full(volume.shape, np.nan)
    rest[:, rows] = np.log(1 / totals - 1)
    told = rest + volume
    sink = np.nanmean(told, axis=(0, 2))
    steady = np.nanmax(np.abs(told - sink[:, None])) <= 10 * share
    return replace(law, sink=sink) if steady else None


def _centred(array: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Each row less its mean over the keys that are seen; 0 elsewhere."""
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    mean = np.where(seen, array, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(seen, array - mean, 0.0)


def _rms(array: np.ndarray) -> float:
    return float(np.sqrt(np.mean(array**2)))
