"""Laws of the logits of many keys: how far their means are spread, and the law of their deviations,
as likely in trained heads as in a hostile question."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FAMILY: dict[str, tuple[float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "equal deviations": (1.0, lambda rng, n: np.ones(n)),
    "deviations in 0.5..2": (1.0, lambda rng, n: rng.uniform(0.5, 2, n)),
    "deviations in 1..4.5": (1.0, lambda rng, n: rng.uniform(1, 4.5, n)),
    "log deviations in 0.05..10": (1.0, lambda rng, n: 10 ** rng.uniform(-1.3, 1, n)),
    "deviations in 0..10": (1.0, lambda rng, n: rng.uniform(0, 10, n)),
    "deviations in 0.5..2, far means": (6.0, lambda rng, n: rng.uniform(0.5, 2, n)),
    "log deviations, far means": (6.0, lambda rng, n: 10 ** rng.uniform(-1.3, 1, n)),
    "deviations in 0..10, far means": (6.0, lambda rng, n: rng.uniform(0, 10, n)),
}
BENCHMARK_LAW = "deviations in 0.5..2"
