"""Formulas tried on numbers: an instance of the exercise seen through the notation of an answer.

Reading order: `roles`, `scene`, `arithmetic`, `evaluate`, `queries`.
"""
