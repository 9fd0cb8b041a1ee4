"""One text as its readers see it: its tokens, and where some of its queries look.

Reading order: `spelling` (tokens in characters), `looks` (the weights of a few queries), `taking`
(the passage of an audit).
"""
