"""Several heads on the same random keys.

Reading order: `bivariate` (the two logits of one key at once), `pair` (the double integral over two
heads, key by key); for many keys `hermite` (one logit in Hermite polynomials), `block` (the terms
of some keys), `sums` and `tables` (light keys together, the others one by one), `rule` (where to
integrate), `series` (the double integral again); `between` (what two heads have to do with each
other).
"""
