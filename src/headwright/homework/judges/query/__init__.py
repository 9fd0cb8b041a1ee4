"""Questions that ask for a query (b.q, c.q), or for one query per head (d.q).

`definitions` finds what a statement says q is, `judge` computes its weights and decides, `outcomes`
words the result with numbers and a repair, `scales` names the faults of the scale alone.
"""
