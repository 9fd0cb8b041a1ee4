"""More heads than one.

Reading order: `programme` (proposing a split), `fewest` (testing it), `mixing` (one query per face,
brought into one ratio), `noiseless` (the answer for keys as they are); `descent` and `robust` (for
random keys).
"""
