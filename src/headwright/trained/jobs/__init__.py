"""Audits of many models and texts as jobs of the crew, with the numbers of one audit after another.

Reading order: `many` (models and texts in, audits out), `one_text` (the job), `as_values` (what it
sends back), `same_weights` (which model was meant).
"""
