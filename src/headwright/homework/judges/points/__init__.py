"""Answers in words, read as points: each said, denied or absent.

`formulas_as_words` spells formulas so that a sentence can hold them, `sentences` makes sentences of
an answer, `needs` tells what a text must hold for a phrase to be in it, `alternatives` looks for
many phrases at once, `phrases` makes phrases of the words of each language (`vocabulary.toml`),
`rubric` is the table of points (`points.toml`), `languages` tells which phrases can be meant,
`find` looks for them with negation and hedging, `judge` says what they amount to.

Rejected: likeness to a model answer. It cannot say what is lacking, and a denial is very like the
claim it denies.
"""
