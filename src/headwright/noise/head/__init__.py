"""One head, every key by itself.

Reading order: `transform` (what one key contributes), `lattice` (the same for many keys at once),
`nodes` (where the integrand is sampled), `laws` (keys that share a law), `integral` (the moments).
"""
