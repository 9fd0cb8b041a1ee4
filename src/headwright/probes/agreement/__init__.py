"""The layer against itself: the same question put in another way must have the same answer.

Reading order: `determinism` as the shortest example, `history`, `batch`, `padding`, `cache`,
`paths`.
"""
