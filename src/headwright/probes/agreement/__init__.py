"""The layer against itself: the same question put in another way must have the same answer.

Reading order: `determinism` as the shortest example, `history`, `batch`, `padding`, `cache` (with
`corner` for functions of q, k and v), `paths` (with `explicit_masks`); `asking/` has what they
share.
"""
