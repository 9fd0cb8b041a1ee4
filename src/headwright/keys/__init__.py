"""What is random: the laws a key can follow, and the logits that a query sees of them.

`GaussianKeys` are independent keys with a structured covariance; `GaussianKeys.quantised` is the
law of keys stored in few bits, and `rounded` really stores them so; `CorrelatedKeys` share common
factors.
"""

from headwright.keys.centred import Logits
from headwright.keys.correlated import CorrelatedKeys
from headwright.keys.gaussian import GaussianKeys
from headwright.keys.law import CentredLaw, LogitsLaw
from headwright.keys.rounding import rounded

__all__ = ["CentredLaw", "CorrelatedKeys", "GaussianKeys", "Logits", "LogitsLaw", "rounded"]
