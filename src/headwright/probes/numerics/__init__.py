"""How well it computes: `numbers` against a reference, `gradients` against differences.

Reading order: `law` (the function that a layer may compute), `fitting` (found from its weights),
`twin` (the same layer in another dtype), `precision` (errors in units of the best possible), `case`
(one input, and the Python that makes it), `scale`, `extremes`, `rows`, `lengths`, `alternatives`
(a softmax over all keys, or none), `numbers`, which asks them all; then `gradients`.
"""
