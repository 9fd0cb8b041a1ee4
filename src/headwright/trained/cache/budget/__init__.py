"""Bits for a stated mean: where the cache of a language model needs them.

Reading order: `allocate` (the bits), `plan` (what comes out), `document` (the plan as a file).
"""
