"""Which answer belongs to which question.

Reading order: `numbering`, `locate`, `answer`.
"""
