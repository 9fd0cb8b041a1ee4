"""What a statement looks like, before anyone asks what it means: the shapes by which answers are
found.

A shape has a name ("a query made of means", "weights that sum to one"). The question bank says how
strongly each shape points to each question; no numbering is needed for an answer to be found.

Reading order: `table` (every shape and its test), then the tests: `scores` (weights and scores),
`vectors` (queries, outputs, lengths), `layers` (self-attention, permutations, matrices).
"""

from __future__ import annotations

from headwright.homework.meaning.shapes.table import shapes_of

__all__ = ["shapes_of"]
