"""Formulas as students write them, to statements.

Reading order, from characters to trees: `vocabulary` (every spelling, as data), `characters`
(Unicode in its plain spelling), `tokens` (what each spelling stands for), `undefined` (commands of
a file that is not there), `tokenize`, `cursor` (a place in a row of tokens), `tree` (what a formula
is once read), `grids` (matrices), `groups` (brackets, fractions, sums), `expressions`, `items`
(what a formula falls into), `parse`.
"""

from __future__ import annotations

from headwright.homework.meaning.formula import tree
from headwright.homework.meaning.formula.items import (
    Item,
    Mark,
    Missing,
    Text,
    Unread,
    join,
    joined_sum,
)
from headwright.homework.meaning.formula.parse import expression, parse
from headwright.homework.meaning.formula.tokens import FormulaError
from headwright.homework.meaning.formula.tree import Chain, Node, Symbol, symbols, walk

__all__ = [
    "Chain",
    "FormulaError",
    "Item",
    "Mark",
    "Missing",
    "Node",
    "Symbol",
    "Text",
    "Unread",
    "expression",
    "join",
    "joined_sum",
    "parse",
    "symbols",
    "tree",
    "walk",
]
