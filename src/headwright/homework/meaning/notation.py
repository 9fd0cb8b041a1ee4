"""Who names what: the letters by which answers call keys, values, means, lengths and counts.

The one table of letters. Where the same thing has different letters in different places, both sets
stand here side by side, with the reason. A guess from the letter alone is only the beginning: what
an index is attached to decides (`scenes.roles`).
"""

from __future__ import annotations

KEYS = frozenset({"k", "K"})
OUTPUTS = frozenset({"c", "C", "o", "y", "z"})

# Values. Scans turn v into nu and N.
VALUES = frozenset({"v", "V", "nu", "N"})
# Inside a query nu is a mean of the keys, and N no vector at all.
VALUES_IN_QUERIES = frozenset({"v", "V"})
# In the steps of a calculation N counts the keys.
VALUES_IN_STEPS = frozenset({"v", "V", "nu"})

# Means of the keys. Scans turn mu into H, M and m.
MEANS = frozenset({"mu", "u", "m", "nu", "H", "M", "M^", "mu^", "eta", "y"})
# Letters that never name a mean, whatever their index.
NEVER_MEANS = (
    KEYS
    | VALUES_IN_QUERIES
    | frozenset({"q", "Q", "c", "C"})
    | frozenset({"alpha", "beta", "lambda", "gamma", "tau", "epsilon", "delta"})
    | frozenset({"t", "s", "e", "n", "d", "I"})
)

# The indices of the two keys that the exercise asks about, in this order.
PAIR = ("a", "b")
# Scanned letters for the indices a and b.
SLIPS = {
    "a": frozenset({"n", "u", "o", "alpha", "0", "9", "q", "A", "α"}),
    "b": frozenset({"h", "6", "B", "beta"}),
}
# Letters that can stand for any key: k_i, k_j.
INDEX_LETTERS = frozenset("ijklmnrst")

# The length of a key that varies.
LENGTHS = frozenset(
    {"gamma", "epsilon", "lambda", "delta", "eta", "xi", "rho", "theta"}
    | {"r", "s", "x", "z", "w", "g", "l"}
)
# How many keys there are.
COUNTS = frozenset({"m", "N", "l", "T", "L", "n", "M"})
# Numbers and matrices that the exercise fixes; they are no scale.
CONSTANTS = frozenset({"n", "d", "I", "pi", "e"})
# The strength of the noise of the keys.
NOISE = "alpha"
# Scalars of an explicit bound: they shrink as the scale grows.
SMALL = frozenset({"epsilon", "delta"})
# What a query is divided by: small means sharp.
TEMPERATURES = frozenset({"tau", "T"})
# Letters that the exercise asks for: "q can be written as ..." defines one of them.
ASKED = frozenset({"q", "Q", "M"})
