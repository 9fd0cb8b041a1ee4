"""When does almost all weight fall on key j (a.cond)? A stated condition is taken at its word.

`stated` finds the statements that could be the condition, `examples` has keys and queries that
might satisfy one, `holds` tells whether they do, `in_words` reads conditions without formulas (the
phrases are in `phrases.toml`), and `judge` computes alpha_j in the examples that fit.
"""
