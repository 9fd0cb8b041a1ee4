"""Numbers of the cache as codes of few bits.

Reading order: `turning` (keys before their rotation, which is how they are stored), `basis` (the
directions of a key head), `channels` (the quantiser of every channel or direction, and the damage
that rounding does), `packing` (codes as bytes).
"""
