"""Where points sit among the keys: which coordinates are in use, which keys are copies; and proofs
carried back from points to keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from headwright.design.proofs.proof import Combination
from headwright.types import Array, Float, Int, Keys, Query

_MOST_BITS = 14_000  # 4,214 decimal digits
# Key numbers and a coefficient for each, in floats or in rationals.
Side = tuple[Sequence[int], Float[Array, "_"]]
RationalSide = tuple[Sequence[int], Sequence[Fraction]]


@dataclass(frozen=True)
class Placement:
    """How the decided points sit in the keys: `columns` in use, `distinct` keys, `first` copy of
    each key."""

    columns: Int[Array, "r"]
    first: Int[Array, "n"]

    @property
    def distinct(self) -> Int[Array, "p"]:
        return np.flatnonzero(self.first == np.arange(len(self.first)))

    def points(self, K: Keys) -> Float[Array, "p r"]:
        distinct = self.distinct
        if len(self.columns) == K.shape[1] and len(distinct) == len(K):
            return K
        return np.ascontiguousarray(K[np.ix_(distinct, self.columns)])

    def lift(self, query: Float[Array, "r"], d: int) -> Query:
        """Zero on unused coordinates: the scores stay what they were."""
        q = np.zeros(d)
        size = np.linalg.norm(query)
        q[self.columns] = query / size if size > 0 else query
        return q

    def lift_digits(self, digits: tuple[str, ...], d: int) -> tuple[str, ...]:
        """Likewise for coordinates given as text."""
        whole = ["0"] * d
        for column, text in zip(self.columns, digits, strict=True):
            whole[column] = text
        return tuple(whole)

    def restore(self, proof: Combination, K: Keys, inside: Sequence[int]) -> Combination:
        """The proof on all coordinates of the keys. It stays exact if the coordinates left out are
        constant, or if its rationals satisfy them too."""
        outside = self.distinct[list(proof.outside)].tolist()
        full = combination(
            K,
            outside=(outside, np.asarray(proof.outside_coefficients)),
            inside=(inside, np.asarray(proof.inside_coefficients)),
        )
        unused = np.setdiff1d(np.arange(K.shape[1]), self.columns)
        rows = K[[*outside, *inside]][:, unused]
        constant = bool((rows == rows[0]).all())
        exact = proof.exact and (constant or _satisfied(proof, rows))
        return replace(full, exact=exact, rational=proof.rational if exact else None)


def _satisfied(proof: Combination, rows: Float[Array, "k u"]) -> bool:
    """Do the rational coefficients (outside, then inside) balance these coordinates exactly?"""
    if proof.rational is None:
        return False
    signs = [1] * len(proof.outside) + [-1] * len(proof.inside)
    weights = [s * Fraction(text) for s, text in zip(signs, proof.rational, strict=True)]
    for column in rows.T.tolist():
        balance = sum(w * Fraction(x) for w, x in zip(weights, column, strict=True))
        if balance != 0:
            return False
    return True


def rational_combination(K: Keys, *, outside: RationalSide, inside: RationalSide) -> Combination:
    proof = combination(K, outside=_in_floats(outside), inside=_in_floats(inside))
    fractions = (*outside[1], *inside[1])
    longest = max(x.denominator.bit_length() for x in fractions)
    # Python writes and reads whole numbers up to a number of digits; beyond it the proof is exact
    # all the same.
    if longest > _MOST_BITS:
        return proof
    return replace(proof, rational=tuple(str(x) for x in fractions))


def combination(K: Keys, *, outside: Side, inside: Side) -> Combination:
    """The record of a proven combination, with the residual its rounded coefficients leave."""
    rows = [int(i) for i in outside[0]]
    members = [int(a) for a in inside[0]]
    base = K[members[0]]
    left = outside[1] @ (K[rows] - base)
    right = inside[1] @ (K[members] - base)
    return Combination(
        outside=tuple(rows),
        outside_coefficients=outside[1],
        inside=tuple(members),
        inside_coefficients=inside[1],
        residual=float(np.linalg.norm(left - right)),
        exact=True,
    )


def _in_floats(side: RationalSide) -> Side:
    keys, coefficients = side
    return keys, np.array([float(x) for x in coefficients])
