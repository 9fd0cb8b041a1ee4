"""A study: `leak` is called with the parameters of one point and returns a dictionary of numbers.
What it raises fails that point alone. Parameters and numbers are the columns of results.csv."""

import numpy as np

import headwright as hw


def leak(*, n: int, d: int, sharpness: float, seed: int) -> dict[str, float]:
    """How much weight leaves the first of n random unit keys when the query points along it?"""
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, d))
    K /= np.linalg.norm(K, axis=1, keepdims=True)

    weights = hw.attend(sharpness * K[0], K, K).weights
    return {"leak": weights[1:].sum(), "largest_other": weights[1:].max()}
