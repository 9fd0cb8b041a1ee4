"""A counterexample on a page: scores and weights key by key, matrices and small cases as tables;
never a value as a program prints it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from headwright.report.notation import set_plain
from headwright.result import plain

_MOST_KEYS = 24
_MOST_NUMBERS = 12  # of a row or a column
_SENTENCES = ("claim", "story")
_WEIGHTS = ("weights", "alpha")
_BY_KEY = ("scores", *_WEIGHTS)
_MARKS_OF_KEYS = ("j", "a", "b")
_NUMBER = (int, float)


def counterexample(example: Mapping[str, Any] | None) -> str:
    if not example:
        return ""
    fields = plain(dict(example))
    told = [str(fields.pop(name)) for name in _SENTENCES if name in fields]
    head = " ".join(["<b>Counterexample.</b>", *(set_plain(sentence) for sentence in told)])

    names = _names_of_keys(fields)
    by_key = {name: fields.pop(name) for name in _BY_KEY if _counts_keys(fields.get(name), names)}
    if by_key:
        fields = {k: v for k, v in fields.items() if k not in ("order", *_MARKS_OF_KEYS)}
    return f"<p>{head}</p>{_key_table(by_key, names)}{_field_table(fields)}"


def in_words(example: Mapping[str, Any] | None) -> str:
    """The same in one line, for a cell of a table."""
    if not example:
        return ""
    fields = plain(dict(example))
    told = [str(fields.pop(name)) for name in _SENTENCES if name in fields]
    names = _names_of_keys(fields)
    by_key = {name: fields.pop(name) for name in _BY_KEY if _counts_keys(fields.get(name), names)}
    if by_key:
        fields = {k: v for k, v in fields.items() if k not in ("order", *_MARKS_OF_KEYS)}
    columns = _columns(by_key)
    for label, place in _alike(names, columns)[:_MOST_KEYS] if columns else ():
        numbers = [f"{name} {_number(row[place])}" for name, row in columns.items()]
        told.append(f"{label}: {', '.join(numbers)}")
    told += [f"{name} = {_in_line(value)}" for name, value in fields.items()]
    return "; ".join(told)


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_in_line(part)}" for name, part in value.items())
    if _is_matrix(value):
        rows = [" ".join(_number(x) for x in row[:_MOST_NUMBERS]) for row in value[:_MOST_NUMBERS]]
        return "(" + " / ".join(rows) + ")"
    if isinstance(value, list):
        return "(" + " ".join(_number(x) for x in value[:_MOST_NUMBERS]) + ")"
    return _number(value)


# ------------------------------------------------------------------------------------- key by key


def _names_of_keys(fields: Mapping[str, Any]) -> list[str]:
    """What the keys are called: as the example says, or counted from 1 with its letters."""
    if _is_row(fields.get("order"), str):
        return fields["order"]
    count = next((len(fields[k]) for k in _BY_KEY if _is_row(fields.get(k), _NUMBER)), 0)
    names = [f"k{i + 1}" for i in range(count)]
    for letter in _MARKS_OF_KEYS:
        place = fields.get(letter)
        if isinstance(place, int) and 0 <= place < count:
            names[place] = letter
    return names


def _counts_keys(value: Any, names: list[str]) -> bool:
    """One number per key, or a row of them for each head."""
    if not names:
        return False
    return all(_is_row(row, _NUMBER) and len(row) == len(names) for row in _rows(value))


def _rows(value: Any) -> list[Any]:
    return value if _is_matrix(value) else [value]


def _key_table(by_key: Mapping[str, Any], names: list[str]) -> str:
    """What the answer really attends to: a line per key; keys without a name that fare alike share
    one."""
    if not by_key:
        return ""
    columns = _columns(by_key)
    weights = next((name for name in _WEIGHTS if name in columns), None)

    # Above the bars stands nothing, which is no header
    above = "<td></td>" if weights else ""
    lines = [_line("key", list(columns), cell="th", last=above)]
    for label, place in _alike(names, columns)[:_MOST_KEYS]:
        cells = [_number(row[place]) for row in columns.values()]
        bar = _bar(columns[weights][place]) if weights else ""
        lines.append(_line(label, cells, last=bar))
    return _table(lines)


def _columns(by_key: Mapping[str, Any]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    for name, value in by_key.items():
        rows = _rows(value)
        for h, row in enumerate(rows, start=1):
            columns[f"{name}, head {h}" if len(rows) > 1 else name] = row
    return columns


def _alike(names: list[str], columns: Mapping[str, list[float]]) -> list[tuple[str, int]]:
    """Every key that has a letter, then the others, with the place of one of each kind."""
    kinds: dict[tuple[str, ...], list[int]] = {}
    for place, name in enumerate(names):
        numbers = tuple(_number(row[place]) for row in columns.values())
        counted = name[:1] == "k" and name[1:].isdigit()
        kind = numbers if counted else (name, *numbers)
        kinds.setdefault(kind, []).append(place)
    others_last = sorted(kinds.values(), key=len)
    return [(_label(names, places), places[0]) for places in others_last]


def _label(names: list[str], places: list[int]) -> str:
    return names[places[0]] if len(places) == 1 else f"{len(places)} others, each"


def _bar(weight: float) -> str:
    width = 100 * max(0.0, min(1.0, weight))
    return f'<td class="bar-of-weight"><i style="width:{width:.1f}%"></i></td>'


# --------------------------------------------------------------------------------- everything else


def _field_table(fields: Mapping[str, Any]) -> str:
    if not fields:
        return ""
    rows = [
        f"<tr><th>{set_plain(str(name))}</th><td>{_value(value)}</td></tr>"
        for name, value in fields.items()
    ]
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _field_table(value)
    if _is_matrix(value):
        return _table([_line("", [_number(x) for x in row]) for row in value[:_MOST_NUMBERS]])
    if isinstance(value, list):
        shown = ", ".join(_number(x) for x in value[:_MOST_NUMBERS])
        return escape(f"{shown}, …" if len(value) > _MOST_NUMBERS else shown)
    return escape(_number(value))


def _table(lines: list[str]) -> str:
    return f'<div class="wide"><table class="numbers">{"".join(lines)}</table></div>'


def _line(name: str, cells: list[str], *, cell: str = "td", last: str = "") -> str:
    head = f"<th>{set_plain(name)}</th>" if name else ""
    shown = "".join(f"<{cell}>{escape(text)}</{cell}>" for text in cells[:_MOST_KEYS])
    return f"<tr>{head}{shown}{last}</tr>"


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # + 0.0: no "-0"
    return str(value)


def _is_row(value: Any, kind: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(x, kind) for x in value)


def _is_matrix(value: Any) -> bool:
    """Rows of one length."""
    if not _is_row(value, list):
        return False
    return len({len(row) for row in value}) == 1 and bool(value[0])
