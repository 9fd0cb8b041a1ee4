"""Is a layer permutation-equivariant? Rows are tokens, so the claim is `f(P X) = P f(X)`.

Reading order: `orders` (permutations as index arrays), `trials` (one claim, tried on one
permutation after the other, with the smallest counterexample), `group` (all permutations that hold,
from few trials), `check` (the question for any callable on arrays). The X-ray's `permutation` uses
the first three on layers of its own.

>>> X = np.arange(6.0).reshape(3, 2)
>>> hw.symmetry.permutation(np.tanh, X).holds
True
>>> hw.symmetry.permutation(lambda X: X.cumsum(axis=0), X).holds
False
"""

from headwright.symmetry.check import Layer, Symmetry, permutation
from headwright.symmetry.trials import Counterexample

__all__ = ["Counterexample", "Layer", "Symmetry", "permutation"]
