"""Keys of every awkward kind, as a table: name -> keys. Shared by the design tests."""

from __future__ import annotations

import numpy as np


def awkward(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    plain = rng.standard_normal((40, 6))
    twins = plain.copy()
    twins[7] = twins[3]
    midpoint = plain.copy()
    midpoint[0] = (midpoint[1] + midpoint[2]) / 2
    return {
        "plain": plain,
        "tiny": plain * 1e-6,
        "huge": plain * 1e6,
        "far away": plain + 1e5,
        "twins": twins,
        "midpoint": midpoint,
        "lattice": np.array([[x, y] for x in range(5) for y in range(5)], dtype=float),
        "low rank": rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6)),
        "uneven": plain * 10.0 ** rng.uniform(-6, 6, (40, 1)),
        "near twins": plain[rng.integers(0, 40, 40)] + 1e-7 * rng.standard_normal((40, 6)),
        "on a line": np.arange(9.0)[:, None],
    }
