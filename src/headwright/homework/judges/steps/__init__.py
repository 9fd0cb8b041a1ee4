"""Intermediate formulas of an answer, checked like the answer itself.

A step is right if one reading of its letters makes it true everywhere, and wrong only if none does
and every letter has one role for certain. `check` goes through the statements, `kinds` knows what a
step can be about, `truth` whether an equation holds at the points of `points`, `lengths` which
letters are the length of a key, and `certainty` whether a step may be called false.
"""
