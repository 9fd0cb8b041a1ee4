"""What c does when a key varies in length: with one head it swings (c.var), with two it stays
(d.var).

`judge` asks which of the two; `one_head` and `two_heads` look for the claims in formulas and words,
`swinging` for crossed cases, `own_queries` computes what the author's queries do.
"""
