"""The error budget of the exact moments, in one place: what is promised, and which share of it each
approximation may spend. All numbers are for values at most 1 away from their centre.

    what is left out                                   mean      covariance    spent in
    -----------------------------------------------------------------------------------------
    the trapezoid rule of step 1/3                     3e-12     6e-11         head/nodes
    mass beyond either end of the integral             1e-14     1e-14         head/nodes
    the transform of one logit, and rounding           1e-12     1e-12         head/transform
    laws of logits that are nearly equal, taken as one 1e-12     6e-12         head/laws
    keys out of reach (a million of them)              2e-13     2e-13         many/cells
    short polynomials: sums over keys                  3e-11     3e-11         many/integrand
    short polynomials: functions brought to the keys   3e-11     3e-10         many/moments
    both in single precision                           3e-10     1.7e-9        many/polynomials
    values added up in single precision                -         2e-9          many/moments
    faint keys, whose values are not added up          -         3e-10         many/groups
    few functions span all r                           -         1e-11         many/directions
    correlations between heads that are ignored        -         1e-10         heads/pair
    rounding of the logits, plain products             2e-11     1.2e-10       keys/centred
    -----------------------------------------------------------------------------------------
    sum                                                3.9e-10   4.6e-9
    promised                                           1e-9      1e-8

The covariance between two heads has a budget of its own, under the same promise:

    the trapezoid rule, both heads                               4e-10         heads/rule
    terms of the series that are left out                        1e-9          heads/tables
    few nodes that stand for all                                 3e-9          heads/groups
    tables of one logit                                          1e-9          heads/hermite
    four times what is known about the mean of either head       < 4e-9        heads/series

Each share is an allowance: what was really spent is measured, or bounded, while computing, and that
is what `error` states. (Two heads with graded nodes are measured only, against `ROUGH_PAIR`.)
"""

PROMISED_MEAN = 1e-9
PROMISED_COVARIANCE = 1e-8

# Logits whose means move by e_i and variances by f_i move E[c] by at most this many times, and
# E[c c'] by at most that many times, the first-order sum of e_i + f_i / 2 (see `rounding`).
MOVED_MEAN = 2.0
MOVED_COVARIANCE = 12.0
# Laws whose means and half of whose variances are no further apart than this may be taken as one.
SAME_LAW = 2.5e-13

# Deviations beyond which a normal number is never seen (1e-20).
REACH = 9.3
# A key whose weight stays below e^{-43} in every plausible draw is out of reach: a million of them
# are still below 1e-12.
DEEP = 43.0

# One unit of cost in the choice of polynomials is this much of a first, or of a second moment.
POLYNOMIALS_MEAN = 3e-11
POLYNOMIALS_COVARIANCE = 3e-10
# Single precision in polynomials may cost this many such units, or it is not used.
SINGLE_POLYNOMIALS = 5.0
# And in sums over values this much of the covariance.
SINGLE_SUMS = 2e-9
# What keys too faint for their values to be added up may do to the covariance.
FAINT = 3e-10
# The average relative error of the weights of such keys, which nothing else would ask for.
FAINT_WEIGHTS = 1e-6

# The functions phi_j left out of the covariance of many keys.
DIRECTIONS = 1e-11

# Correlations between the logits of two heads that may be ignored, all together.
IGNORED_CORRELATIONS = 1e-10
# Two heads correlated through many keys: the rule, the separable terms left out of all keys, few
# nodes that stand for all, and the tables of one logit.
PAIR_RULE = 4e-10
PAIR_TERMS = 1e-9
PAIR_NODES = 3e-9
PAIR_TABLES = 1e-9
# A double integral whose rule is off by more is not used: the covariance is sampled instead.
ROUGH_PAIR = 1e-8
