"""Every tolerance has a name and a reason; no test writes a bare number.

Monte-Carlo asserts compare z-scores with `SIGMAS`, so that their false-failure rate is stated here once.
"""

# Double precision, a handful of operations on numbers of size one.
ROUNDING = 1e-12
# Promised accuracy of the exact engine, values of unit size (the mean, the covariance).
EXACT_MEAN = 1e-9
EXACT_COVARIANCE = 1e-8
# Single precision, sums of some hundred terms.
SINGLE = 2e-5
# A z-score beyond this happens by chance once in 1.7 million comparisons.
SIGMAS = 5.0
# Two ways of adding a million positive terms of size one: n * eps, with room.
PREFIX = 1e-9
