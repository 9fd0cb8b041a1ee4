"""Witnesses and proofs of reach, looked at again on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np


def lost_keys(found: Any) -> list[int]:
    return [j for j, status in enumerate(found.status) if status == "unreachable"]


def proven(found: Any, some: list[int]) -> str:
    """How many of some keys have a combination that is proven to exist exactly; or one within the
    tolerance, which is what counts for keys that rounding moved off a face."""
    rounding = found.tolerance * float(np.linalg.norm(found.keys, axis=1).max())
    proofs = [found.proof(j) for j in some]
    good = sum(proof.exact or proof.residual <= rounding for proof in proofs)
    return f"{good} of {len(some)}"


def winning(found: Any) -> str:
    winners = np.flatnonzero(found.reachable)
    if len(winners) == 0:
        return "0 of 0"
    sample = spread(winners, 50)
    good = sum(found.witness(j).margin > 0 for j in sample)
    return f"{good} of {len(sample)}"


def spread(items: np.ndarray, count: int) -> list[int]:
    return [
        int(j) for j in items[np.linspace(0, len(items) - 1, min(count, len(items))).astype(int)]
    ]
