"""What the numbers of all heads say together.

Reading order: `chance` (what equal weights would give), `candidates` (the templates of
`remarkable.toml` held against the heads), `remarkable` (the few sentences), `breaking` (which heads
break first), `comparison` (two audits).
"""
