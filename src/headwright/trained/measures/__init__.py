"""Numbers about each head.

Reading order: `from_rows` (means over all rows of a text), `tally` (the sum over texts), `parts`
(the same on parts of the texts), `chance` (what equal weights would give), `sampled` (what is too
slow for every row), `rotary` (the logits' energy by channels). Beside the texts: `beside_text`,
with the made texts of `probes/`.
"""
