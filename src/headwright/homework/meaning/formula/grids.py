"""Entries in rows and columns: matrices, and columns that are drawn with bars."""

from __future__ import annotations

import itertools

from headwright.homework.meaning.formula import tree
from headwright.homework.meaning.formula.cursor import END, Cursor, ExpressionReader
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Node


def matrix(reader: ExpressionReader) -> Node:
    cursor = reader.cursor
    outside = cursor.in_matrix
    cursor.in_matrix = True
    rows = _rows(reader)
    cursor.in_matrix = outside
    filled = tuple(row for row in rows if row)
    if not filled:
        raise FormulaError("an empty matrix")
    return tree.Matrix(filled)


def _rows(reader: ExpressionReader) -> list[tuple[Node, ...]]:
    cursor = reader.cursor
    rows: list[tuple[Node, ...]] = []
    row: list[Node] = []
    while not cursor.done and not cursor.take("end"):
        if cursor.take("newline"):
            rows.append(tuple(row))
            row = []
        elif not _decoration(reader) and (cursor.starts() or cursor.peek("op", "-", "+")):
            row.append(reader.expression())
        else:  # "&", and the bars and dots that decorate a column
            cursor.at += 1
    rows.append(tuple(row))
    return rows


def _decoration(reader: ExpressionReader) -> bool:
    """The bars that draw a column in `[ | & | ]`, the dashes that draw a row."""
    if not reader.cursor.peek("op", "|", "‖", "-"):
        return False
    following = reader.cursor.token(1)
    return following.kind in ("newline", "end") or following.text in ("&", "|", "-")


def columns(reader: ExpressionReader) -> tuple[Node, ...]:
    """`[ | a_1 | a_2 | ... | a_m | ]`, stepped over: columns drawn with bars; nothing where the
    bars are norms or there are none."""
    inside = _inside_brackets(reader.cursor)
    written = [list(run) for is_bar, run in itertools.groupby(inside, _is_bar) if not is_bar]
    drawn = len(written) > 1 and not any(_is_sign(run[0]) or _is_sign(run[-1]) for run in written)
    if not drawn:
        return ()
    items = tuple(reader.inside(run) for run in written)
    reader.cursor.at += len(inside) + 2
    return items


def _inside_brackets(cursor: Cursor) -> list[Token]:
    """The tokens up to the next closing bracket; none where another opens before it."""
    inside: list[Token] = []
    while (token := cursor.token(len(inside) + 1)) not in (Token("op", "]"), END):
        if token == Token("op", "["):
            return []
        inside.append(token)
    return inside


def _is_bar(token: Token) -> bool:
    return token == Token("op", "|")


def _is_sign(token: Token) -> bool:
    return token.kind == "relation" or (token.kind == "op" and token.text in "+-*/=,;")
