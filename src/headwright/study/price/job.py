"""One set of q keys among N: the shortest query that averages it, and how far that is proved."""

from __future__ import annotations

import numpy as np

VERSION = "2"
# A norm counts as certified when the proved lower bound is this close to it.
CERTIFIED_GAP = 1e-6


def job(
    *, family: str, N: int, d: int, seed: int, q: int, draw: int, leak: float = 0.1
) -> dict[str, float | None]:
    """`selectable` is 1 (a query is proved to exist), 0 (proved impossible, and the proof checked
    again from keys and coefficients) or absent (neither). `norm` and `lower` enclose the length of
    the shortest query; beyond 1e8 or so no query in float64 has it, and both are proved in exact
    arithmetic. `draw` counts the random sets;
    the same seed and draw give the same set for every family and dimension."""
    from headwright.design import average
    from headwright.study.price import bounds
    from headwright.study.price.keys import unit_keys

    K = unit_keys(family, N, d, seed)
    rng = np.random.default_rng([seed, draw, N, q])
    support = sorted(rng.choice(N, q, replace=False).tolist())
    design = average(support, K, leak=leak)
    lower, norm = design.shortest
    found = np.isfinite(norm)
    impossible = design.status == "impossible" and design.certify().holds
    row: dict[str, float | None] = dict.fromkeys(_NUMBERS)
    if found:
        row["norm"] = norm
        row["lower"] = lower
        row["gap"] = design.gap
        row["certified"] = float(design.gap <= CERTIFIED_GAP)
    if design.status == "reached":
        row["margin"] = design.sharpness / design.norm
    if found or impossible:
        row["selectable"] = float(found)
    if impossible:
        row["most_mass"] = design.ceiling
    row["floor"] = bounds.floor(N, q, leak)
    row["near_floor"] = bounds.near_floor(K, support, leak)
    row["ceiling"] = _ceiling(family, (N, d, seed), support, leak)
    return row


_NUMBERS = (
    "selectable",
    "norm",
    "lower",
    "gap",
    "certified",
    "margin",
    "most_mass",
    "floor",
    "near_floor",
    "ceiling",
)


def _ceiling(
    family: str, made: tuple[int, int, int], support: list[int], leak: float
) -> float | None:
    """What the theorem for these keys allows at most, where there is one."""
    from headwright.study.price import bounds
    from headwright.study.price.keys import largest_product, unit_keys

    N, d, seed = made
    if family == "random":
        return bounds.random_ceiling(unit_keys(family, N, d, seed), support, leak)
    if family == "cyclic":
        return bounds.cyclic_ceiling(N, d, support, leak)
    mu = largest_product(family, N, d, seed)
    return bounds.coherence_ceiling(N, len(support), mu, leak)
