"""Numbers about each head.

Reading order: `from_rows` (means over all rows of a text), `tally` (the sum over texts), `sampled`
(what is too slow for every row).
"""
