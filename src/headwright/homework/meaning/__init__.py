"""What an answer says.

Reading order: `formula/` (a grammar for what people write), `formulas_in_prose`, `statements`,
`words`, `terms`, `shapes`, `sizes`, `target`.
"""
