"""Bits for a stated mean: where the cache of a language model needs them.

Reading order: `channels` (what is known of every channel, and the damage that rounding does),
`signals` (energy, from one pass) and `fisher` (from one backward pass), `allocate` (the bits),
`plan` (what comes out), `document` (the plan as a file), `packing` and `planned_cache` (a cache
that `generate` takes), `decoding` (what the model says through it), `overlap` (on which texts) and
`outcome` (what comes of it).
"""
