"""Formulas tried on numbers: an instance of the exercise seen through the notation of an answer.

Reading order: `arithmetic` (numbers, vectors, matrices), `evaluate` (the value of an expression in
a scene), `roles` (which letter plays which part), `torn_symbols` (letters that lost their index),
`scene` (roles, an instance and values for the scales), `queries` (does a query do what was asked).
"""
