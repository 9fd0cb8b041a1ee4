"""Formulas as students write them: characters -> tokens -> statements."""

from __future__ import annotations

from headwright.homework.meaning.formula import tree
from headwright.homework.meaning.formula.items import Item, Mark, Missing, Text, Unread, join
from headwright.homework.meaning.formula.parse import expression, parse
from headwright.homework.meaning.formula.tokens import FormulaError
from headwright.homework.meaning.formula.tree import Chain, Node, Symbol, symbols, walk

__all__ = [
    "Chain", "FormulaError", "Item", "Mark", "Missing", "Node", "Symbol", "Text", "Unread", "expression", "join",
    "parse", "symbols", "tree", "walk",
]  # fmt: skip
