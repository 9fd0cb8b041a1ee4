"""One set of q keys among N: the shortest query that averages it, and how far that is proved."""

from __future__ import annotations

import numpy as np

VERSION = "1"
# A norm counts as certified when the proved lower bound is this close to it.
CERTIFIED_GAP = 1e-6


def job(
    *, family: str, N: int, q: int, d: int, seed: int, set: int, leak: float = 0.1
) -> dict[str, float | None]:
    """`selectable` is 1 (a query was found and certified), 0 (proved impossible, the proof checked
    again from keys and coefficients) or absent (neither). `set` counts the random sets; the same
    seed and number give the same set for every family and dimension."""
    from headwright.design import average
    from headwright.study.price import bounds
    from headwright.study.price.keys import unit_keys

    K = unit_keys(family, N, d, seed)
    rng = np.random.default_rng([seed, set, N, q])
    support = sorted(rng.choice(N, q, replace=False).tolist())
    design = average(support, K, leak=leak)
    reached = design.status == "reached"
    impossible = design.status == "impossible" and design.certify().holds
    row = dict.fromkeys(("norm", "lower", "gap", "certified", "margin", "most_mass"))
    if reached:
        gap = 1 - design.lower_bound / design.norm
        row["norm"] = design.norm
        row["lower"] = design.lower_bound
        row["gap"] = gap
        row["certified"] = float(gap <= CERTIFIED_GAP)
        row["margin"] = design.sharpness / design.norm
    elif impossible:
        row["most_mass"] = design.ceiling
    known = 1.0 if reached else 0.0
    return {
        "selectable": known if reached or impossible else None,
        **row,
        "floor": bounds.floor(N, q, leak),
        "near_floor": bounds.near_floor(K, support, leak),
        "ceiling": _ceiling(family, K, support, leak),
    }


def _ceiling(family: str, K: np.ndarray, support: list[int], leak: float) -> float | None:
    """What the theorem for these keys allows at most, where there is one."""
    from headwright.study.price import bounds

    if family == "random":
        return bounds.random_ceiling(K, support, leak)
    if family == "cyclic":
        return bounds.cyclic_ceiling(*K.shape, support, leak)
    return bounds.coherence_ceiling(K, support, leak)
