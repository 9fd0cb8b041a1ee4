"""Which answer belongs to which question.

Reading order: `locate` tells the way; `numbering` (what labels say), `evidence` (what speaks for a
question at a segment) and `walk` (the best sequence of questions) are its steps. `answer` is the
result as the judges get it.
"""
