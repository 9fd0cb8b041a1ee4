"""What an answer says.

Reading order: `formula/` (one formula, in any spelling, to a tree), `formulas_in_prose` (where
formulas stand between words), `words` (what words say about quantities), `statements` (a document
as one stream of words and statements); `notation` (who names what), `terms` (what a single term
is), `shapes/` (what a statement looks like); then two questions that several judges ask:
`winning_key` (which letter names the key that should win) and `scale_size` (how large the scale is
said to be).
"""
