"""What never meets the solver: what "reached" means, and the checks that trust nobody.

Reading order: `reached`, `float_bounds`, `proof`, `ceiling`, `length`, `ball`, `certificate`.
"""
