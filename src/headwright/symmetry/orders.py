"""Permutations of n tokens as index arrays: token `order[i]` goes to place i."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def swapped(n: int, i: int, j: int) -> np.ndarray:
    order = np.arange(n)
    order[[i, j]] = j, i
    return order


def reversed_order(n: int) -> np.ndarray:
    return np.arange(n)[::-1].copy()


def shifted(n: int, by: int) -> np.ndarray:
    """Every token moves `by` places to the right, the last ones to the front."""
    return np.roll(np.arange(n), by)


def exchanged(n: int, one: Sequence[int], other: Sequence[int]) -> np.ndarray:
    """Two blocks of equal size change places."""
    order = np.arange(n)
    order[list(one)] = other
    order[list(other)] = one
    return order


def is_swap(order: np.ndarray) -> bool:
    return int((order != np.arange(len(order))).sum()) == 2
