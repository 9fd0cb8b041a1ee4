"""Is there a query that looks away, for a pair and given keys? Asked of the solver of `design`.

A key at the origin has the logit 0 whatever the query is. To average a, b and that key is to keep
z_a = z_b = 0, with everything else below: exactly what looking away means, found with a certificate
or excluded by a proof. With s the sum of e^{z_i} over the others,

    leak = s / (2 + s)      on the pair, and with the key at the origin      s / (3 + s) .

Two heads may also share the work: one looks away from all but a, the other copies b.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headwright import design
from headwright.design import Design
from headwright.study.toys.task import LIMIT
from headwright.types import Heads, Keys

# The leak of these designs: their squared error is below 2e-4.
_LEAK = 0.01


@dataclass(frozen=True)
class Away:
    """The queries found, none where there are none; `impossible` is proved, within the limit."""

    queries: Heads | None
    impossible: bool


class AwaySolver:
    """Answers for the pairs of one set of keys."""

    def __init__(self, keys: Keys, heads: int) -> None:
        self.keys = keys
        self.heads = heads
        self.origin = len(keys)
        self.with_origin = np.vstack([keys, np.zeros(keys.shape[1])])

    def answer(self, a: int, b: int) -> Away:
        together = self._off_all_but(a, b)
        if _affordable(together):
            return Away(together.queries, impossible=False)
        if self.heads == 1:
            return Away(None, _excluded(together))
        apart = (self._alone[a], self._copies[b])
        if all(_affordable(one) for one in apart):
            return Away(np.concatenate([one.queries for one in apart]), impossible=False)
        return Away(None, _excluded(together) and any(_excluded(one) for one in apart))

    def _off_all_but(self, *kept: int) -> Design:
        s = len(kept) * _LEAK / (1 - _LEAK)
        leak = s / (len(kept) + 1 + s)
        return design.average([*kept, self.origin], self.with_origin, leak=leak)

    @cached_property
    def _alone(self) -> list[Design]:
        return [self._off_all_but(a) for a in range(self.origin)]

    @cached_property
    def _copies(self) -> list[Design]:
        return [design.copy(b, self.keys, leak=_LEAK) for b in range(self.origin)]


def _affordable(answer: Design) -> bool:
    return answer.status == "reached" and answer.norm <= LIMIT


def _excluded(answer: Design) -> bool:
    return answer.status == "impossible" or answer.lower_bound > LIMIT
