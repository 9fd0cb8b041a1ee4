"""What is random: the laws a key can follow, and the logits that a query sees of them.

`GaussianKeys` are independent keys with a structured covariance; `GaussianKeys.quantised` is the
law of keys stored in few bits, and `rounded` really stores them so; `CorrelatedKeys` share common
factors.

Reading order: `covariance` (the parts of a covariance), `gaussian`, `quantised`, `correlated`
(whose keys these are); `law` (what a query sees of them), `products` and `centred` (the same in
double precision, with bounds on its rounding, for the engines of `noise`).
"""

from headwright.keys.centred import centred_law
from headwright.keys.correlated import CorrelatedKeys
from headwright.keys.gaussian import GaussianKeys
from headwright.keys.law import CentredLaw, LogitsLaw
from headwright.keys.quantised import rounded

__all__ = ["CentredLaw", "CorrelatedKeys", "GaussianKeys", "LogitsLaw", "centred_law", "rounded"]
