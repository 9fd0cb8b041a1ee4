"""A formula to its statements: chains of relations, words and separators, in order.

What cannot be read becomes `Unread` and reading goes on behind it, so that one broken brace costs
one statement.
"""

from __future__ import annotations

from collections.abc import Callable

from headwright.homework.meaning.formula.cursor import Cursor, spell
from headwright.homework.meaning.formula.expressions import Reader
from headwright.homework.meaning.formula.items import Item, Mark, Missing, Text, Unread, join
from headwright.homework.meaning.formula.tokenize import tokenize
from headwright.homework.meaning.formula.tokens import FormulaError, Token
from headwright.homework.meaning.formula.tree import Chain, Node

# A formula of more characters is no answer; reading it would only cost time.
LONGEST = 20_000
# Tokens that stand between statements.
_BETWEEN = ("text", "newline", "consequence", "separator")
# Operators that cannot begin a statement: what an unbalanced bracket left over, punctuation.
_LOOSE = (",", ";", "&", ")", "]", "\\}", "}", "*", "/", "'", "!", "^", "_")


def parse(text: str, *, quantity: Callable[[str], bool] = lambda words: False) -> list[Item]:
    """Every statement of a formula. `quantity(words)` says whether words stand for a number ("a
    large constant")."""
    if len(text) > LONGEST:
        return [Unread(text[:80], f"longer than {LONGEST} characters")]
    try:
        tokens = tokenize(text)
    except FormulaError as error:
        return [Unread(text[:80], str(error))]
    return _statements(Cursor(_opened(tokens, quantity), quantity))


def expression(text: str) -> Node:
    """The one expression in `text`; raises FormulaError when there is none or more than one."""
    items = [i for i in parse(text) if not isinstance(i, Mark)]
    if len(items) != 1 or not isinstance(items[0], Chain) or items[0].relations:
        raise FormulaError(f"not one expression: {text[:60]}")
    return items[0].terms[0]


def _statements(cursor: Cursor) -> list[Item]:
    items: list[Item] = []
    reader = Reader(cursor)
    while not cursor.done:
        start = cursor.at
        mark = _mark(cursor)
        if mark is not None:
            items.append(mark)
            continue
        try:
            _extend(items, _chain(reader))
        except FormulaError as error:
            cursor.bars.clear()
            cursor.in_matrix = False
            _skip(cursor, start)
            items.append(Unread(spell(cursor.tokens[start : cursor.at]), str(error)))
    return items


def _mark(cursor: Cursor) -> Item | None:
    """A separator at the cursor, consumed; None where a statement begins."""
    token = cursor.token()
    item: Item | None = None
    if token.kind == "text" and not cursor.quantity(token.text):
        item = Text(token.text)
    elif token.kind == "newline":
        item = Mark("newline")
    elif token.kind == "consequence":
        item = Mark("=>")
    elif token.kind in ("separator", "begin", "end") and not cursor.opens_matrix():
        item = Mark("forall" if token.text in ("forall", "∀") else ",")
    elif token.kind == "op" and token.text in _LOOSE:
        item = Mark(",")
    cursor.at += item is not None
    return item


def _extend(items: list[Item], chain: Chain) -> None:
    """Append, or join to the statement on the line before when one of the two lacks a side."""
    before = len(items)
    while before and items[before - 1] == Mark("newline"):
        before -= 1
    last = items[before - 1] if before else None
    joined = join(last, chain) if isinstance(last, Chain) else None
    if joined is not None:
        del items[before - 1 :]
    items.append(joined or chain)


def _skip(cursor: Cursor, start: int) -> None:
    """Behind an unreadable piece: to the next separator."""
    cursor.at = max(cursor.at, start + 1)
    while not cursor.done:
        token = cursor.token()
        if token.kind in _BETWEEN or token.text in (",", ";"):
            return
        cursor.at += 1


def _chain(reader: Reader) -> Chain:
    cursor = reader.cursor
    terms: list[Node] = [Missing() if cursor.peek("relation") else reader.expression()]
    relations: list[str] = []
    while _relation_follows(cursor):
        relations.append(_relation(cursor))
        follows = cursor.starts() or cursor.peek("op", "-", "+")
        terms.append(reader.expression() if follows else Missing())
    return Chain(tuple(terms), tuple(relations))


def _relation_follows(cursor: Cursor) -> bool:
    """A relation here, or after line breaks and alignment marks (`a &= b \\\\ &= c`)."""
    look = 0
    while cursor.token(look).kind == "newline" or cursor.token(look).text == "&":
        look += 1
    negated = cursor.token(look) == Token("command", "not")
    found = cursor.token(look + negated).kind == "relation"
    cursor.at += look if found else 0
    return found


def _relation(cursor: Cursor) -> str:
    token = cursor.next()
    if token == Token("command", "not"):
        inner = cursor.next().text
        return {"=": "!=", "in": "notin"}.get(inner, inner)
    while cursor.take("op", "&"):
        pass
    if token.text in "<>" and cursor.take("relation", token.text):  # "> >" typed with a space
        return token.text * 2
    return token.text


def _opened(tokens: list[Token], quantity: Callable[[str], bool]) -> list[Token]:
    """Brackets around whole statements, `(beta >> 0)` or `\\boxed{q = ...}`, become separators."""
    stack: list[tuple[int, bool]] = []
    loose: set[int] = set()
    for k, token in enumerate(tokens):
        if token.kind == "op" and token.text in ("(", "{"):
            stack.append((k, False))
        elif token.kind == "op" and token.text in (")", "}") and stack:
            start, stated = stack.pop()
            before = tokens[start - 1] if start > 0 else None
            is_script = before is not None and before.kind == "op" and before.text in "_^"
            if stated and not is_script:
                loose |= {start, k}
        elif stack and _states(token, quantity):
            stack[-1] = (stack[-1][0], True)
    return [Token("separator", t.text) if k in loose else t for k, t in enumerate(tokens)]


def _states(token: Token, quantity: Callable[[str], bool]) -> bool:
    """A sign that what is inside these brackets is a statement, not a value."""
    if token.kind == "text":
        return not quantity(token.text)
    return token.kind in ("relation", "consequence") or token.text in ("because", "∵", "forall")
