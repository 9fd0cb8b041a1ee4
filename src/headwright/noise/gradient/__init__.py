"""Derivatives of the expected squared error, for robust design.

Reading order: `head`, `pair`, `squared_error`.
"""
