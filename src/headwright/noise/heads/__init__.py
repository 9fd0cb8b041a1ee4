"""Several heads on the same random keys.

Reading order: `bivariate` (the two logits of one key at once), `pair` (the double integral over two
heads, key by key); for many keys `rule` (where to integrate), `hermite` (one logit in Hermite
polynomials), `block` (the terms of some keys), `tables` (what their correlations do), `few_nodes`
(which stand for all), `groups` (which keys on which nodes), `sums` (over keys), `series` (the
double integral again); `between` (what two heads have to do with each other).
"""
