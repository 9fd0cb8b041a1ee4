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
# Measured over predicted mean squared logit error of rounded keys: the group's two extremes have no error
# (2 of 64 entries: 3 %), and the values inside a step are not exactly uniform.
ROUNDING_VARIANCE = 0.04
# Share of logit errors beyond two predicted deviations, against 4.55 % for a Gaussian.
ROUNDING_TAIL = 0.005
# The lab shows outputs with three decimals.
THREE_DECIMALS = 6e-4
# Standard error of 2^16 scrambled Sobol points in one dimension: far below the 1e-3 of plain sampling.
SOBOL_ONE_DIMENSION = 2e-5
# Spread of 40 t-scores with 31 degrees of freedom (expected 1.03, standard error 0.12): five standard errors.
T_SPREAD = (0.45, 1.65)
