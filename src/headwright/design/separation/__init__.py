"""Which keys, or sets of keys, can ever win?

Reading order: `hull`, `placed`, `screens`, `pursuit`, `cone`, `rational`, `separate` (one set),
`reachability` (all keys), `record`, `figures`.
"""
