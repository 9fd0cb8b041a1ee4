"""Several heads on the same random keys.

Reading order: `bivariate` (the two logits of one key at once), `pair` (the double integral over two
heads), `between` (what two heads have to do with each other).
"""
