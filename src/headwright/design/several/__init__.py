"""More heads than one.

Reading order: `programme`, `fewest`, `mixing`, `descent`, `robust`.
"""
