"""What heads do on given keys: their weights, the leak and how well it is known, lead and length.

One function serves the record of a design and the re-check of a saved one, so that both mean the
same by every number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headwright import attention
from headwright.design.proofs.certificate import mixed_bounds
from headwright.design.proofs.reached import Promise
from headwright.design.target import Target, Wanted
from headwright.types import Array, Float, Heads

# Whoever finds a leak and a bound of their own, on another machine, finds it covered by what is
# stated: the stated error is this many times the bound.
_LEAK_ERROR_ROOM = 4


def measured(want: Wanted, queries: Heads, mix: Any, faces: tuple[Target, ...]) -> dict[str, Any]:
    """What these heads do, as fields of a design; no `faces`: every head is measured on the whole
    target."""
    mix = np.asarray(mix, dtype=float)
    z = attention.logits(queries, want.keys, scale=want.scale, bias=want.bias)
    weights = mix @ attention.weights(z)
    leak = float(np.delete(weights, list(want.target.support)).sum())

    promise = Promise(queries, mix, want.target, want.leak, want.scale, want.bias)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        bounds = mixed_bounds(promise, want.keys)
    leak_error = max(bounds.leak - leak, leak - bounds.least_leak)

    served = faces or (want.target,) * len(queries)
    return {
        "queries": queries,
        "mix": mix,
        "weights": weights,
        "leak": leak,
        "leak_error": _LEAK_ERROR_ROOM * leak_error,
        "sharpness": lead(z, served) / abs(want.scale),
        "norm": float(np.linalg.norm(queries, axis=1).max()),
    }


def lead(z: Float[Array, "h n"], faces: tuple[Target, ...]) -> float:
    """The weakest lead over all heads: smallest logit on the face minus the largest beside it; 0 if
    none is beside."""
    leads = []
    for row, face in zip(z, faces, strict=True):
        inside = list(face.support)
        beside = np.delete(row, inside)
        ahead = row[inside].min() - beside.max() if beside.size else 0.0
        leads.append(ahead)
    return float(min(leads))
