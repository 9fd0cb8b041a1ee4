"""Numbers about each head.

Reading order: `from_rows` (what is measured of a row), `sums` (over parts of a text), `tally` (over
texts, and the measures), `chance` (what equal weights would give), `sampled` (what is too
slow for every row), `rotary` (the logits' energy by channels). Beside the texts: `beside_text`,
with the made texts of `probes/`.
"""
