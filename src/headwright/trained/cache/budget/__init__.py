"""Bits for a stated mean: where the cache of a language model needs them.

Reading order: `channels` (what is known of every channel, and the damage that rounding does),
`turning` (keys before their rotation, which is how they are stored) and `ranges` (where numbers may
lie), `signals` (energy, from one pass) and `fisher` (from one backward pass), `calibration` (all of
this from the calibration texts, or from some of them), `allocate` (the bits), `plan` (what comes
out), `document` (the plan as a file), `packing` and `planned_cache` (a cache that `generate`
takes).
"""
