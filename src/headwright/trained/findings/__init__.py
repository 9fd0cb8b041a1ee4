"""What the numbers of all heads say together.

Reading order: `groups` and `candidates` (the templates of `remarkable.toml` held against the heads,
with `wording`), `remarkable` (the few sentences), `breaking` (which heads break first),
`comparison` (two audits) and `saved` (one of them read from a file).
"""
