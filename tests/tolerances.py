"""A tolerance that two tests share has a name and a reason, here.

One that belongs to a single comparison may stand there as a number, beside what explains it;
tests/test_style.py counts those, and their number only falls. Monte-Carlo asserts compare z-scores
with `SIGMAS`, so that their false-failure rate is stated here once.
"""

# Double precision, a handful of operations on numbers of size one.
ROUNDING = 1e-12
# Promised accuracy of the exact engine, values of unit size (the mean, the covariance).
EXACT_MEAN = 1e-9
EXACT_COVARIANCE = 1e-8
# Closed forms, solved for the sharpness and put in again: relative, leaks down to 1e-12.
CLOSED_FORM = 1e-9
# Numbers of the exercise as texts quote them: half a unit of the third decimal, and the fourth.
QUOTED_THREE = 5e-4
QUOTED_FOUR = 1e-4
# Mean squared error of the textbook's heads, which was known by simulation alone.
SIMULATED = 2e-4
# None of n draws: the bound is -ln(1 - confidence) / n, to first order in 1 / n.
NONE_OF_MANY = 0.02
# A share of pairs, or a length, after training on another machine: rounding is carried on.
RETRAINED = 0.02
# A number that a notebook shows, computed on another machine: single precision, two digits printed.
STORED = 0.02
# Two solvers of one problem, each stopped at its own small gap.
SECOND_SOLVER = 1e-5
# A length that is attained: the solver's stated gap.
ATTAINED = 1e-7
# Laws that hold in the limit, against finite keys: a bound for large n, a comparison of medians of
# a dozen draws, an exponent fitted to a few sizes.
LARGE_N = 1e-3
MEDIAN_OF_A_DOZEN = 0.06
FITTED_EXPONENT = 0.1
# Single precision, sums of some hundred terms.
SINGLE = 2e-5
# A z-score beyond this happens by chance once in 1.7 million comparisons.
SIGMAS = 5.0
# Two ways of adding a million positive terms of size one: n * eps, with room.
PREFIX = 1e-9
# Measured over predicted mean squared logit error of rounded keys: the group's two extremes have no
# error (2 of 64 entries: 3 %), and the values inside a step are not exactly uniform.
ROUNDING_VARIANCE = 0.04
# Share of logit errors beyond two predicted deviations, against 4.55 % for a Gaussian.
ROUNDING_TAIL = 0.005
# The lab shows outputs with three decimals.
THREE_DECIMALS = 6e-4
# Standard error of 2^16 scrambled Sobol points in one dimension: far below the 1e-3 of plain
# sampling.
SOBOL_ONE_DIMENSION = 2e-5
# Spread of 24 t-scores with 31 degrees of freedom (expected 1.03, standard error 0.15): four
# standard errors.
T_SPREAD = (0.43, 1.63)
# Distribution function of a weight where one number is left to average: what 2^15 Sobol points must
# reach.
WEIGHT_LAW = 1e-4
# Integral of a sampled density against 1 and against the exact mean: a few standard errors of 2^15
# Sobol points.
DENSITY = 2e-4
# Promised relative gap between the cheapest query's length and its proven lower bound.
DESIGN_GAP = 1e-8
# Lengths from an interior-point solver (clarabel, default accuracy) against ours.
CONIC = 1e-5
# A ceiling is the end of a descent that stops when it can gain no more than 1e-10 in ln(leak odds).
CEILING = 1e-8
# Shares of a mixture in a bfloat16 query with error feedback, d = 384 (plain rounding: about 1e-3).
FEEDBACK = 2e-5
# Exact gain of robust design over the textbook two heads on the classic example; measured 690 and
# more.
ROBUST_GAIN = 100.0
# The library's eager attention takes its softmax in single precision, in double models too.
EAGER_SOFTMAX = 1e-6
# What an audit promises against the same measures taken from full maps.
AUDIT = 1e-5
# Double precision, streamed in blocks against full maps: sums of some thousand terms in another
# order.
STREAMED = 1e-9
# The exponential of the compiled rows: two units in the last place of single precision.
COMPILED_EXP = 2.4e-7
# The lab's shipped audit keeps four digits; kernels of other machines may round the fourth
# otherwise.
SHIPPED_CARDS = 1e-3
# A convex combination of keys multiplied out in float64, relative to the keys' size.
COMBINATION = 1e-12
# A proven margin against the one read off the scores: they differ by the rounding bound only.
MARGIN = 1e-6
# Feasibility tolerance of the HiGHS linear programmes that serve as a second opinion on integer
# data.
PROGRAMME = 1e-7
# One-logit expectations against 25 digits: relative where they can be seen, absolute where they
# underflow.
TRANSFORM = 1e-12
TRANSFORM_ABSOLUTE = 1e-16
# Central differences of step 1e-4 on values accurate to 1e-11: both errors together.
DIFFERENCES = 2e-7
# Key-cache prediction: noise of 0.03 on the logits is cut at leading order, which leaves out a few
# times its square.
LEADING = 5e-3
# Promised for the key-cache prediction against the law of all keys, behind a soft cap (where it is
# sampled) too.
PREDICTED = 0.05
# Integrals by a general rule: over one normal number, relative; over two by the trapezoidal rule,
# against the exact engine for values of size one.
QUADRATURE = 1e-7
# Spread of 2000 repeated samples (known to 2-3 %) against a standard error to first order in 1 /
# (200 rows).
LINEARISED = 0.1
# A number said with two or three digits in a station's text.
SAID = 6e-3
# What the fused kernel promises against single precision: its row numbers are good to SINGLE, its
# output to the rounding of half precision.
FUSED = 1e-3
# A tone of size 0.5 at another rate: the ripple of the filter that changes it.
RESAMPLED = 2e-3

# A report shows weights in whole per cent, packed in steps of 1/65535.
WHOLE_PERCENT = 0.00501

# A saved audit keeps four digits of each part; sizes of changes are differences of these.
SAVED_PARTS = 1e-2
