"""When does almost all weight fall on key j (a.cond)? A stated condition is taken at its word.

`stated` finds the statements that could be the condition, `examples` has keys and queries that
might satisfy one, `holds` tells whether they do, and `judge` computes alpha_j in those that do.
"""
