"""The distinct laws among the logits of each query: keys that share a law are transformed once.

Rounding alone makes laws differ that are meant to be equal (orthonormal keys that are not unit
vectors), so laws within `budget.SAME_LAW` of each other are taken for one. A mean moved by e and a
variance moved by f change the moments as rounding of the logits does (see `rounding`): E[c] by at
most 2 eta e^{2 eta}, E[c c'] by six times as much, where eta is the largest e + f / 2. `moved` is
the part behind the 2, and it is added to the stated error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.noise import budget
from headwright.noise.head.ends import Logits
from headwright.noise.head.nodes import coarse
from headwright.types import Float, Int

# Beyond this size doubles are further apart than laws that may be taken for one.
_COARSE = 1e3

PerKey = Float[np.ndarray, "q n"]


@dataclass(frozen=True)
class Laws:
    """The distinct laws among the keys of each query: `logits`, with as many columns as the query
    with most of them needs; `which` law each key has, and how far that `moved` the keys."""

    logits: Logits
    which: Int[np.ndarray, "q n"]
    moved: Float[np.ndarray, "q"]

    @property
    def shared(self) -> bool:
        """Does any law have several keys?"""
        return self.logits.m.shape[1] < self.which.shape[1] or bool((self.logits.count != 1).any())

    def of(self, queries: Int[np.ndarray, "b"] | slice) -> Laws:
        """Of some queries."""
        some = Logits(self.logits.m[queries], self.logits.s[queries], self.logits.count[queries])
        return Laws(some, self.which[queries], self.moved[queries])

    def coarse(self) -> Logits:
        """The logits as far as the ends of the integral need them."""
        if len(self.which) > 1:
            return self.logits
        rows = (self.logits.m[0], self.logits.s[0], self.logits.count[0])
        return Logits(*(row[None, :] for row in coarse(*rows)))

    def added(self, rows: Float[np.ndarray, "q n v"]) -> Float[np.ndarray, "q k v"]:
        """Rows of the keys, added up law by law."""
        if not self.shared:
            return rows
        q, k = self.logits.m.shape
        name = self.which + k * np.arange(q)[:, None]
        order = np.argsort(name, axis=None, kind="stable")
        count = self.logits.count.ravel().astype(int)
        first = np.cumsum(count) - count
        sums = np.zeros((q * k, rows.shape[2]))
        there = count > 0
        sums[there] = np.add.reduceat(rows.reshape(-1, rows.shape[2])[order], first[there])
        return sums.reshape(q, k, -1)

    def to_keys(self, x: Float[np.ndarray, "q k *u"]) -> Float[np.ndarray, "q n *u"]:
        """What the laws have, key by key."""
        if not self.shared:
            return x
        return x[np.arange(len(x))[:, None], self.which]


@np.errstate(over="ignore", invalid="ignore")  # deviations of 1e200, means of minus infinity
def distinct(m: PerKey, s: PerKey) -> Laws:
    """Keys of equal mean and deviation, up to rounding, share one law."""
    variances = s * s
    means = np.where(np.abs(m) < _COARSE, _rounded(m, budget.SAME_LAW), m)
    narrow = np.sqrt(_rounded(variances, 2 * budget.SAME_LAW))
    deviations = np.where(variances < _COARSE, narrow, s)
    names = means + 1j * deviations

    order = np.argsort(names, axis=1, kind="stable")
    rows = np.arange(len(m))[:, None]
    ordered = names[rows, order]
    new = np.ones(m.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if new.all():
        own = np.broadcast_to(np.arange(m.shape[1]), m.shape)
        return Laws(Logits(m, s, np.ones(m.shape)), own, np.zeros(len(m)))
    return _shared(m, s, order, new)


def _shared(m: PerKey, s: PerKey, order: Int[np.ndarray, "q n"], new: np.ndarray) -> Laws:
    """Laws from the keys in order of their names, and where a `new` name begins."""
    rows = np.arange(len(m))[:, None]
    law = np.cumsum(new, axis=1) - 1
    which = np.empty_like(order)
    which[rows, order] = law

    # The first key of each law speaks for it.
    query, _ = np.nonzero(new)
    first = np.zeros((len(m), int(law.max()) + 1), dtype=int)
    first[query, law[new]] = order[new]
    count = np.zeros(first.shape)
    np.add.at(count, (rows, which), 1.0)
    there = count > 0
    means = np.where(there, m[rows, first], -np.inf)
    deviations = np.where(there, s[rows, first], 0.0)

    leader = first[rows, which]
    apart = _apart(m, leader) + _apart(s * s, leader) / 2
    eta = apart.max(axis=1)
    return Laws(Logits(means, deviations, count), which, eta * np.exp(2 * eta))


def _rounded(x: PerKey, grain: float) -> PerKey:
    """To the nearest multiple."""
    return np.rint(x / grain) * grain


def _apart(x: PerKey, leader: Int[np.ndarray, "q n"]) -> PerKey:
    """How far each entry is from its leader's; two infinite ones are equal."""
    theirs = x[np.arange(len(x))[:, None], leader]
    return np.where(x == theirs, 0.0, np.abs(x - theirs))
