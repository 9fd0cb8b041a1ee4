"""Texts made for one question, each with a forward pass and a column of its own.

Reading order: `repeated` (random tokens twice: who continues them), `needle` (a fact in a haystack:
who finds it again), `passes` (the pass that takes both).
"""
