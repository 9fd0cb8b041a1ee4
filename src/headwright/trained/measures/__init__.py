"""Numbers about each head.

Reading order: `from_rows`, `sampled`, `tally`.
"""
