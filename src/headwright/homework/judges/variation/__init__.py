"""What c does when a key varies in length: with one head it swings (c.var), with two it stays
(d.var).

`judge` asks which of the two; `one_head` and `two_heads` look for the claims, `swinging` has the
claims about the swing that need more than a glance (crossed cases, words of alternation).
"""
