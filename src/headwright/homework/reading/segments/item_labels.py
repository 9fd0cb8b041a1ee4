"""Labels of items, at the beginning of a line or a formula: (a), a), i., ii), 1.1, Q1(b), Part c,
(C) - i), 第一题, 문제 2.

A label is a chain of tokens, each bracketed or punctuated, sometimes behind a word such as
"Question". The text of the label is kept as written; what question it names is for the locator to
decide, who sees the whole document.
"""

from __future__ import annotations

import functools
import re

from headwright.homework.reading.numerals import (
    CHINESE_NUMERALS,
    CIRCLED_DIGITS,
    KOREAN_LETTERS,
    ROMAN_NUMERALS,
)

# "Question", "Part" and the like, in the languages that students write
_WORDS = (
    "answer(?: to| for)?|ans|solution(?: to| for)?|soln|sol|question|problem|exercise|task"
    r"|part(?!e\b)"
    "|sub-?question|section|item|prob|ex|q|pr|aufgabe|teilaufgabe|teil|frage|zadanie|podpunkt"
    "|pytanie|punkt|pregunta|ejercicio|problema|apartado|inciso|parte|exercice|partie"
    "|exerc[ií]cio|quest[aã]o|letra|esercizio|domanda|задание|задача|вопрос|пункт|часть"
    "|упражнение|문제|문항|질문|问题|問題|题目|題目|习题|練習|问|問|題|题"
    "|respuesta|resposta|pergunta|r[ée]ponse|antwort|lösung|設問|小问|小問|설문|답"
    "|soru|alıştırma|câu|bài|opgave|vraag|uppgift|fråga|tehtävä|otázka|úloha|cvičení|soal"
    "|sub-?item|sub-?part|sous-question|unteraufgabe|subinciso|subapartado|tarea|übung"
)


def _romans_to_ten() -> str:
    """Longest first, so that ii is not read as i."""
    lower = sorted(ROMAN_NUMERALS[:10], key=len, reverse=True)
    upper = [numeral.upper() for numeral in lower]
    return rf"(?:{'|'.join(lower + upper)})"


_ROMAN = _romans_to_ten()
_CHINESE = f"[{CHINESE_NUMERALS}]"
_TOKEN = rf"(?:{_ROMAN}|[A-Ha-h]|\d{{1,2}}(?:\.\d{{1,2}}){{0,2}}|{_CHINESE})"
_AFTER = r"(?![\w'’]|\.\d)"
# (a.2), (b-ii), (a, ii), (aii), (a)
_INSIDE = rf"(?:[A-Ha-h](?:[.\-/]|,\s?)?(?:{_ROMAN}|\d)|{_TOKEN}|[{KOREAN_LETTERS}])"
_BRACKETED = rf"[(\[（【]\s*{_INSIDE}['’]?\s*[)\]）】]"
_CLOSED = rf"(?:{_TOKEN}|[{KOREAN_LETTERS}]|[A-Ha-h]\s?(?:i{{1,3}}|iv))['’]?\s?[)）]"
_DOTTED = rf"{_TOKEN}(?:[.．、:：](?!\d)|\s*、)"
# Several levels in one label: 1.a.2, A.3 (1), 1a-ii, 1 · c · i, 一、2, c.1
_STEP = rf"(?:{_ROMAN}|[A-Ha-h]|\d{{1,2}}|{_CHINESE}|[{KOREAN_LETTERS}{CIRCLED_DIGITS}])"
_LINK = (
    r"(?:[.\-–、]|\s?(?=[(\[（])|(?<=[\d\W])(?=[A-Ha-h](?![A-Za-z]{2}))"
    r"|(?<=[A-Ha-h])(?=\d)|(?<=\d[A-Ha-h])(?=i)|(?<=[)\]）])(?=(?-i:i)))"
)
_LEVEL = rf"(?:{_STEP}|[(\[（]{_STEP}[)\]）])"
_LEVELS = rf"{_LEVEL}(?:{_LINK}{_LEVEL}){{1,3}}(?![\w'’=])"
_ENDED = r"(?=[*_]{2}|[):：])"
_NO_LETTERS_ALONE = r"(?![A-Ha-h][.\-][A-Ha-h](?![A-Za-z]))(?![A-Ha-h]\d(?![*_]{2}|[):：]))"
_COMPOUND = (
    rf"(?:[(\[（【]{_LEVELS}[)\]）】]"
    rf"|{_NO_LETTERS_ALONE}(?=[^\s]{{0,12}}[A-Za-z{CHINESE_NUMERALS}{KOREAN_LETTERS}])"
    rf"{_LEVELS}[)）]?(?=[*_]{{2}}|[.:：]|\s|$)"
    rf"|{_LEVEL}(?:\s?[·・]\s?{_LEVEL}){{1,3}}(?!\w)"
    rf"|\d(?:[.\-]\d){{1,2}}(?:{_ENDED}|\.(?=\s)))"
)
_GLUED = r"\d(?:[a-hA-H][.)]?(?=[(\s]|$))"  # 1a, 2c)
# 1c i), 2a ii.
_GLUED_CHAIN = (
    rf"\d[a-hA-H][.)]?(?:\s{{0,2}}(?:{_BRACKETED}|{_CLOSED}|{_ROMAN}[.:：](?!\d))"
    rf"|\s(?:ii|iii|iv){_AFTER}|\si\s*$)"
)
_POINTED = rf"\d{{1,2}}\.[A-Ha-h](?:\.(?:{_ROMAN}|\d))?(?=[.):]?(?:\s|$))"  # 3.b, 3.a.ii
_PIECE = rf"(?:{_BRACKETED}|{_CLOSED}|{_DOTTED}|[{CIRCLED_DIGITS}])"
# Never c, v or x: those begin formulas
_BARE_TAIL = rf"(?:\s?(?:ii|iii|iv|vi|vii){_AFTER}|(?-i:i){_AFTER}|\si\s*$)"
_JOIN = r"\s{0,2}(?:[-–—_,/.]\s{0,2})?"

_MORE = rf"(?:{_JOIN}{_PIECE}|(?:[-.]|\s?[-–—]\s?)?{_BARE_TAIL})*"
_CHAIN = rf"{_PIECE}{_MORE}"
_NUMBERED = rf"\d{{1,2}}(?:\.\d{{1,2}}){{0,2}}(?:\s?{_PIECE}{_MORE})"  # 1.1(a), 2(c)ii, 1(a) i.
# 1.1 Copying
_SECTION = r"(?:[1-9](?:\.[1-9]){1,2}\.?(?=\s+[^\W\d_]|\s+¿|\s*$)|[1-9](?:\.[1-9]){2}(?=\s))"
_WORDED = (
    rf"(?:{_WORDS})\.?\s{{0,2}}[#№]?\s{{0,2}}"
    rf"(?:{_COMPOUND}|\d[.\-]\(?\d\)?(?!\w)|{_POINTED}|{_PIECE}|{_GLUED}"
    rf"|{_TOKEN}(?=\s*[(.:：)\]、\-–—]|\s|$|,\s{{0,2}}(?:{_WORDS})\b))"
    # Question 1, part (b)
    rf"(?:{_JOIN}(?:{_WORDS})\s{{1,2}}(?:{_PIECE}|{_TOKEN}(?=[,:：]|\s*(?:$|[(\-–—])))){{0,2}}"
    rf"{_MORE}"
)
_COUNTED = (
    rf"(?:(?:第\s?(?:\d{{1,2}}|{_CHINESE})\s?(?:题|題|问|問|部分|小题|节|章|大题)){{1,2}}"
    r"|\d{1,2}\s?번)"
)
_BARE = r"(?:ii|iii|iv|vi|vii)(?=\s+\S|\s*$)"
_NO_ABBREVIATION = r"(?!(?:e\.\s?g|i\.\s?e|i\.\s?i\.\s?d|a\.\s?k\.\s?a|c\.\s?f|d\.\s?h)\b)"

_BEHIND = (
    # (a)We, ii.We and （2）c: a sentence may begin at once
    r"(?:(?=[\W_]|$|[^\x00-\x7f])|(?<=[)\]])(?=(?-i:[A-Z]))|(?<=i\.)(?=(?-i:[A-Z][a-z]))"
    rf"|(?<=[）】{CIRCLED_DIGITS}])(?=\w))"
    r"(?!\s*(?::=|[=≈∝∼]))[.:：、]?"  # q1 = ... is a formula
)
_WITHOUT_WORD = re.compile(
    rf"{_NO_ABBREVIATION}(?:{_COUNTED}(?:{_JOIN}{_PIECE})*|{_NUMBERED}|{_GLUED_CHAIN}"
    rf"|{_COMPOUND}|{_POINTED}|{_CHAIN}"
    rf"|{_GLUED}[).:]?|{_SECTION}|{_BARE}){_BEHIND}",
    re.IGNORECASE,
)
# A word, and what may begin a label behind it: only then is it worth the tenfold time that it takes
# to compile what knows whether it does.
_BEGINS = rf"(?:{_WORDS})\.?\s{{0,2}}[#№]?\s{{0,2}}(?:[(\[（【A-HIVXa-hivx\d]|[^\x00-\x7f])"
_BEGINS_AT_LINE = re.compile(_BEGINS, re.IGNORECASE)
_TEXT = r"\s*\\(?:text(?:bf|rm|it)?|mathrm|mathbf|bf)\s*\{\s*"
_BEGINS_IN_FORMULA = re.compile(_TEXT + _BEGINS)
_LONE_TOKEN = re.compile(rf"{_TOKEN}[.):]?\s*$")
_HEADED = re.compile(
    rf"(?:[1-9]\d?(?:\.\d{{1,2}}){{0,2}}|{_ROMAN}|[A-Ha-h])(?:\.|:)?(?=\s+[^\W\d_=]|\s*$)"
)
_IN_FORMULA = re.compile(
    rf"{_TEXT}(?P<texted>{_CHAIN})\s*[.:]?\s*\}}"
    rf"|\s*(?:(?P<chain>{_BRACKETED}{_MORE}|{_CLOSED}{_MORE})"
    r"(?=\s*(?:\\(?:quad|qquad|[ ,;:!]|hspace|text|left|;)|~|[A-Za-z\\({$]|\s*$))"
    rf"|(?P<bare>{_ROMAN}|[a-h])\s*[.:)]?\s*(?=\\(?:quad|qquad)))"
)
# A chapter-like line: a short line that opens with a number and goes on with a word ("1 Attention
# Exploration").
_TITLE = re.compile(
    r"[1-9]\d?(?:\.\d{1,2}){0,2}\s+[A-ZÀ-Þ\u0400-\u042f\u3000-\ud7a3][^$\\=]{2,60}(?<![.,;:])$"
)


@functools.cache
def _worded_at_line() -> re.Pattern[str]:
    return re.compile(rf"{_NO_ABBREVIATION}{_WORDED}{_BEHIND}", re.IGNORECASE)


@functools.cache
def _worded_in_formula() -> re.Pattern[str]:
    return re.compile(rf"{_TEXT}({_WORDED})\s*[.:]?\s*\}}")


def at_line(line: str) -> re.Match[str] | None:
    """The label at the very beginning of a line (indentation, bullets and emphasis already cut
    off)."""
    worded = _worded_at_line().match(line) if _BEGINS_AT_LINE.match(line) else None
    return worded or _WITHOUT_WORD.match(line)


def is_lone_token(line: str) -> bool:
    """A line that is nothing but "a" or "ii": it can only be numbering."""
    return _LONE_TOKEN.match(line) is not None


def in_heading(line: str) -> re.Match[str] | None:
    """In a heading a bare number or letter counts, too: "1 Attention exploration", "b Query"."""
    return at_line(line) or _HEADED.match(line)


def in_formula(text: str) -> tuple[str, int] | None:
    r"""A label at the beginning of a formula (`ii \quad k_j^T q`) and where the formula then
    begins."""
    match = _IN_FORMULA.match(text)
    if match is None and _BEGINS_IN_FORMULA.match(text):
        worded = _worded_in_formula().match(text)
        return None if worded is None else (worded[1].strip(), worded.end())
    if match is None:
        return None
    # (1) before a formula may be a number in brackets; alone it can only be numbering
    if match["chain"] and _is_factor(match["chain"]) and text[match.end() :].strip():
        return None
    label = match["texted"] or match["chain"] or match["bare"]
    return label.strip(), match.end()


def _is_factor(chain: str) -> bool:
    """(1) and (2) in front of a formula may be numbers in brackets; letters and Roman numerals
    never are."""
    return chain.startswith("(") and chain.strip("() ").isdigit()


def is_title(line: str) -> bool:
    return _TITLE.match(line) is not None
