"""The rows of a layer on a GPU: one flash-style kernel for the output and the row numbers, small
ones for what is sparse.

Reading order: `tiles` (a tile of logits), `kernel` (the pass over all keys), `lookups` (single
weights, once the row's maximum and sum are known), `sampled` (a few whole rows), `repeats` (where
tokens stood before) and `launch` (sizes, memory, and the numbers as `Rows`).
"""
