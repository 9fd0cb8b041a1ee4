"""What people do instead of exact moments: formulas for E[alpha] of logits N(m_i, s_i^2), and Monte
Carlo. `moments` says what each costs and how far off it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def probit(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Mean field with the probit factor: softmax of m / sqrt(1 + pi s^2 / 8)."""
    return _softmax(m / np.sqrt(1 + np.pi * s * s / 8))


def bridge(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Laplace bridge (MacKay): the Dirichlet whose Laplace approximation in softmax coordinates is
    the Gaussian."""
    n = m.size
    concentration = (1 - 2 / n + np.exp(m) * np.exp(-m).sum() / n**2) / (s * s)
    return concentration / concentration.sum()


def daunizeau(m: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Semi-analytical sigmoid of pairwise differences: 1 / (2 - n + sum_j 1 / sigmoid((m_i - m_j) /
    sqrt(1 + a v)))."""
    gap = (m[:, None] - m) / np.sqrt(1 + 0.368 * (s[:, None] ** 2 + s**2))
    with np.errstate(over="ignore"):
        return 1 / (2 - m.size + (1 + np.exp(-gap)).sum(axis=1))


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def samplers() -> dict[str, Callable[..., np.ndarray]]:
    """Monte Carlo in logit space, in blocks that stay in cache: NumPy, and torch where it is
    installed."""

    def numpy_sampler(m, s, samples, rng):
        total = np.zeros(m.size)
        for begin in range(0, samples, 8192):
            z = rng.standard_normal((min(8192, samples - begin), m.size))
            z *= s
            z += m
            np.exp(z, out=z)
            total += (1 / z.sum(axis=1)) @ z
        return total / samples

    samplers: dict[str, Callable[..., np.ndarray]] = {"Monte Carlo, NumPy": numpy_sampler}
    try:
        import torch
    except ImportError:
        return samplers

    def torch_sampler(m, s, samples, rng):
        generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
        mean = torch.from_numpy(m)
        width = torch.from_numpy(s)
        total = torch.zeros(m.size, dtype=torch.float64)
        for begin in range(0, samples, 8192):
            shape = (min(8192, samples - begin), m.size)
            z = torch.randn(shape, dtype=torch.float64, generator=generator)
            total += torch.softmax(z.mul_(width).add_(mean), dim=1).sum(dim=0)
        return (total / samples).numpy()

    return samplers | {"Monte Carlo, torch": torch_sampler}
