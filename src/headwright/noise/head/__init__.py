"""One head, every key by itself.

Reading order: `transform` (what one key contributes), `nodes` (where the integrand is sampled),
`integral` (the moments).
"""
