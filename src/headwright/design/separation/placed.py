"""Where points sit among the keys: which coordinates are in use, which keys are copies; and proofs
carried back from points to keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from headwright.design.proofs.proof import Combination
from headwright.types import Float, Int, Keys, Query


@dataclass(frozen=True)
class Space:
    """How the decided points sit in the keys: `columns` in use, `distinct` keys, `first` copy of
    each key."""

    columns: Int[np.ndarray, "r"]
    first: Int[np.ndarray, "n"]

    @property
    def distinct(self) -> Int[np.ndarray, "p"]:
        return np.flatnonzero(self.first == np.arange(len(self.first)))

    def points(self, K: Keys) -> Float[np.ndarray, "p r"]:
        distinct = self.distinct
        if len(self.columns) == K.shape[1] and len(distinct) == len(K):
            return K
        return np.ascontiguousarray(K[np.ix_(distinct, self.columns)])

    def lift(self, query: Float[np.ndarray, "r"], d: int) -> Query:
        """Zero on unused coordinates: the scores stay what they were."""
        q = np.zeros(d)
        size = np.linalg.norm(query)
        q[self.columns] = query / size if size > 0 else query
        return q

    def spread_out(self, digits: tuple[str, ...], d: int) -> tuple[str, ...]:
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
        used = [*outside, *inside]
        unused = np.setdiff1d(np.arange(K.shape[1]), self.columns)
        constant = bool((K[np.ix_(used, unused)] == K[used[0], unused]).all())
        exact = proof.exact and (constant or _satisfied(proof, K[np.ix_(used, unused)]))
        return replace(full, exact=exact, rational=proof.rational if exact else None)


def _satisfied(proof: Combination, rows: Float[np.ndarray, "k u"]) -> bool:
    """Do the rational coefficients (outside, then inside) balance these coordinates exactly?"""
    if proof.rational is None:
        return False
    signs = [1] * len(proof.outside) + [-1] * len(proof.inside)
    weights = [s * Fraction(text) for s, text in zip(signs, proof.rational, strict=True)]
    return all(
        sum(w * Fraction(x) for w, x in zip(weights, column, strict=True)) == 0
        for column in rows.T.tolist()
    )


def rational_combination(
    K: Keys,
    *,
    outside: tuple[Sequence[int], Sequence[Fraction]],
    inside: tuple[Sequence[int], Sequence[Fraction]],
) -> Combination:
    text = tuple(str(x) for x in (*outside[1], *inside[1]))
    proof = combination(
        K,
        outside=(outside[0], np.array([float(x) for x in outside[1]])),
        inside=(inside[0], np.array([float(x) for x in inside[1]])),
    )
    return replace(proof, rational=text)


def combination(
    K: Keys,
    *,
    outside: tuple[Sequence[int], Float[np.ndarray, "r"]],
    inside: tuple[Sequence[int], Float[np.ndarray, "m"]],
) -> Combination:
    """The record of a proven combination, with the residual its rounded coefficients leave."""
    rows, members = [int(i) for i in outside[0]], [int(a) for a in inside[0]]
    base = K[members[0]]
    left, right = outside[1] @ (K[rows] - base), inside[1] @ (K[members] - base)
    return Combination(
        outside=tuple(rows),
        outside_coefficients=outside[1],
        inside=tuple(members),
        inside_coefficients=inside[1],
        residual=float(np.linalg.norm(left - right)),
        exact=True,
    )
