"""A plan in the words of other programs, and back to the same bits.

What a format cannot say is refused with the nearest plan that it can. Reading order: `stored_bits`
(whole heads and layers of a plan), then one file per format, and `formats` (all of them by name).
"""
