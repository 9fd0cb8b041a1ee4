"""The rows of a layer on a GPU: one flash-style kernel for the output and the row numbers, small
ones for what is sparse.

Reading order: `tiles` (a tile of logits), `kernel` (the pass over all keys), `ending` (the top key
and single weights at its end), `repeats` (where tokens stood before) and `lookups` (the weights
there), `sampled` (a few whole rows), `launch` (sizes, memory, and the numbers as `Rows`), `sums`
(the row measures, added up).
"""
