"""One streaming pass over the rows of attention; no map is ever kept.

Reading order: `tokens` (what is known before), `stream`, `operations`, `compiled`, `largest`,
`likeness`.
"""
