"""Several heads on the same random keys.

Reading order: `bivariate` (two logits at once), `pair` (two heads), `joint` (all of them).
"""
