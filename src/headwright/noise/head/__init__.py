"""One head, every key by itself, for one query or many.

Reading order: `transform` (what one key contributes), `uniform` and `series` (the same for the keys
of many queries at once, at equal distances and anywhere), `lattice` (on one lattice, for `many`);
`ends` and `nodes` (where the integrand is sampled), `laws` (keys that share a law), `blocks` (what
is taken at a time), `integral` (the moments), `tabulated` (the integrand, for two heads).
"""
