"""What never meets the solver: what "reached" means, and the checks that trust nobody.

Reading order: `reached` (the meaning, and what a design promises); `float_bounds`, `weight_bounds`
and `ball` (weights enclosed by two routes); `proof` (why a target is out of reach), `exclusion`
(what a proof rules out) and `ceiling`; `length` (no shorter query); `certificate` puts them
together.
"""
