"""From a proof to a number: the most mass a set that cannot win can get.

If `sum lam_i k_i` (keys outside S) lies in the affine hull of S, every query with equal scores tau
on S has `sum lam_i z_i = tau`, and Gibbs' inequality `ln sum e^{z_i} >= sum lam_i z_i + H(lam)`
gives

    mass on S  <=  m e^tau / (m e^tau + e^{tau + H(lam)})  =  m / (m + e^{H(lam)}),        m = |S|.

More spread coefficients give a sharper bound; the sharpest is attained (it is the maximum-entropy
combination). Shares that are not equal, a bias and the ratio error of accepted queries are for
`exclusion.most_mass`.
"""

from __future__ import annotations

import numpy as np

from headwright.design.proofs.proof import Combination
from headwright.types import Array, Float


def entropy(lam: Float[Array, "r"]) -> float:
    lam = lam[lam > 0]
    return max(0.0, float(-(lam * np.log(lam)).sum()))


def ceiling(proof: Combination) -> float:
    m = len(proof.inside)
    spread = entropy(np.asarray(proof.outside_coefficients))
    return m / (m + float(np.exp(spread)))
