"""Derivatives of the expected squared error, for robust design.

Reading order: `head` (of one head), `pair` (of two that depend on each other), `squared_error` (all
heads, back to the queries).
"""
