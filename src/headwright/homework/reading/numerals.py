"""Numerals with which items are numbered, beside letters and digits: written by the LaTeX reader,
found in front of lines, counted by the locator."""

from __future__ import annotations

ROMAN_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
CHINESE_NUMERALS = "一二三四五六七八九十"
KOREAN_LETTERS = "가나다라마바사아"
CIRCLED_DIGITS = "①②③④⑤⑥⑦⑧"
