"""What agreement is asked with.

Reading order: `compared` (two answers and the finding), `written` (a call as Python), `questions`
(one input, many ways to ask), `causal` (what the plain call sees), `padded` (texts of unequal
lengths), `decoding` (a text in pieces, with a cache; `growing` is the simplest one).
"""
