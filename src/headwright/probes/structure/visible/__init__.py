"""What depends on what: one token changed, and which outputs move.

Reading order: `shapes` (the names a picture can have), `logits` (inputs whose logits are known),
`scenes` (an input with one token changed), `picture` (which outputs moved), `found` (the name that
fits at every size), `leaks` (hidden keys with huge logits), `corner` (queries and keys that differ
in number).
"""
