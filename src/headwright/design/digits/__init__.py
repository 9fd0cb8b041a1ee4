"""One head's problem in many digits, for the few keys that carry it.

Reading order: `frame` (rows, and what they start from), `least_distance` (which keys carry the
weight), `surface` (Newton on them). Nothing here is trusted: what comes out are suggestions, which
`proofs` turns into bounds.
"""
