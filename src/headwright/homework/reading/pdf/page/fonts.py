"""Fonts: from the codes in a page's strings to letters and widths.

TeX's fonts name their letters, and the name says more than a Unicode number does: the N of the
symbol font is \\mathcal{N}. Where the file does not number its letters, its font program does;
where that is cut, the family's own numbering is used.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from headwright.homework.reading.pdf.boxes import UNKNOWN, Face
from headwright.homework.reading.pdf.page.library import adobe_glyphs
from headwright.homework.reading.pdf.page.unicode_maps import Codes, unicode_map

_SUBSET = re.compile(r"^/?(?:[A-Z]{6}\+)?")
_NUMBERED = re.compile(rb"dup\s{1,9}(\d{1,3})\s{0,9}/([A-Za-z0-9._]{1,40})\s{1,9}put")
_PICTURE = re.compile(r"a\d{1,3}")  # how pdfTeX calls a letter that it draws as a picture
_LARGE = re.compile(r"(display|text|bigg|Bigg|big|Big|tp|bt|mid|ex|single|double)$")
_PARTS = ("tp", "bt", "mid", "ex")
_DOUBLE_STRUCK = "MSBM"
_SCRIPT = ("CMSY", "CMBSY", "LMMathSymbols", "EUSM", "RSFS", "URWChancery")
_LIGATURES = {"ff": "ff", "fi": "fi", "fl": "fl", "ffi": "ffi", "ffl": "ffl"}
_LIGATURE_CHARACTERS = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
)
_TEXT_LETTERS = "T1"  # encodings of the fonts that pdfTeX draws as pictures
_SIGNS_FOR_TEXT = "TS1"
_FIRST_BEYOND_ASCII = 128
_ALPHABETS = ("\U0001d400", "\U0001d7ff")  # letters in bold, italic, script, ... of mathematics
_ALPHABET_COMMANDS = {
    "DOUBLE-STRUCK": r"\mathbb",
    "SCRIPT": r"\mathcal",
    "BOLD": r"\mathbf",
}
_RADICAL_DEPTH = 1.0  # ems
_HANGING_ROOTS = ("CM", "LM", "LatinModernMath")
_MOST_PROGRAM = 2_000_000  # bytes of a font program
_FIGURES = re.compile(r"(zero|one|two|three|four|five|six|seven|eight|nine)(?:oldstyle)?$")
_DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@dataclass(frozen=True)
class Letter:
    latex: str
    width: float  # in ems
    depth: float = 0.0  # of a large sign, in ems below its origin; 0 for all others
    is_part: bool = False  # of a bracket that is put together from several


@dataclass(frozen=True)
class Font:
    name: str
    face: Face
    codes: Codes
    letters: dict[int, Letter]
    is_tex: bool
    is_bitmap: bool

    def read(self, string: bytes) -> list[tuple[int, Letter]]:
        """The letters of a string, each with its code."""
        found: list[tuple[int, Letter]] = []
        for code in self.codes.split(string):
            found.append((code, self.letters.get(code) or self._unknown(code)))
        return found

    def _unknown(self, code: int) -> Letter:
        return Letter(UNKNOWN, self.codes.width(code))


def font(record: Any) -> Font:
    name = _SUBSET.sub("", str(record.get("/BaseFont", "")))
    face, is_tex = _face(name)
    codes = unicode_map(record)
    is_bitmap = record.get("/Subtype") == "/Type3" and not codes.unicode
    if is_bitmap:
        name = _bitmap_family(record)
    letters: dict[int, Letter] = {}
    for code, text in codes.unicode.items():
        latex = _as_latex(text)
        letters[code] = Letter(latex, codes.width(code), _depth(latex, name))
    if not codes.wide:
        for code, glyph in _glyph_names(record, name).items():
            letter = _letter(glyph, name, face, codes.width(code))
            if letter is not None:
                letters[code] = letter
    return Font(name, face, codes, letters, is_tex, is_bitmap)


@cache
def _tables() -> dict[str, Any]:
    path = resources.files("headwright.homework.reading.pdf.page") / "glyphs.toml"
    return tomllib.loads(path.read_text("utf-8"))


def _as_latex(text: str) -> str:
    """What a Unicode number stands for: signs of mathematics by their command, the mathematical
    alphabets by the letter."""
    if text in _tables()["unicode"]:
        return _tables()["unicode"][text]
    plain = text.translate(_LIGATURE_CHARACTERS)
    if len(plain) != 1 or not _ALPHABETS[0] <= plain <= _ALPHABETS[1]:
        return plain
    letter = unicodedata.normalize("NFKC", plain)
    letter = _tables()["unicode"].get(letter, letter)
    name = unicodedata.name(plain, "")
    for word, command in _ALPHABET_COMMANDS.items():
        if word in name:
            return f"{command}{{{letter}}}"
    return letter


def _face(name: str) -> tuple[Face, bool]:
    longest = ""
    chosen: Face = "text"
    for face, beginnings in _tables()["faces"].items():
        for beginning in beginnings:
            if name.startswith(beginning) and len(beginning) > len(longest):
                longest = beginning
                chosen = face
    return chosen, bool(longest)


def _glyph_names(record: Any, name: str) -> dict[int, str]:
    """What each code is called: by the family's custom, the font program, the file; the last of
    them wins."""
    names = dict(_family(name))
    if name in (_TEXT_LETTERS, _SIGNS_FOR_TEXT):
        return names
    return names | _program_names(record) | _listed_names(record)


def _listed_names(record: Any) -> dict[int, str]:
    encoding = record.get("/Encoding")
    differences = encoding.get_object() if encoding is not None else None
    names: dict[int, str] = {}
    if isinstance(differences, dict):
        code = 0
        for entry in differences.get("/Differences", [])[:600]:
            if isinstance(entry, (int, float)):
                code = int(entry)
            else:
                names[code] = str(entry).lstrip("/")
                code += 1
    return names


def _bitmap_family(record: Any) -> str:
    """Letters as pictures have no names. pdfTeX keeps their numbers, and the only fonts that it
    still draws are those of the encodings T1 (text) and TS1 (signs for text)."""
    used = {code: name for code, name in _listed_names(record).items() if name != ".notdef"}
    if not used or not all(_PICTURE.fullmatch(name) for name in used.values()):
        return ""
    return _SIGNS_FOR_TEXT if min(used) >= _FIRST_BEYOND_ASCII else _TEXT_LETTERS


@cache
def _family(name: str) -> dict[int, str]:
    if name == _SIGNS_FOR_TEXT:
        return {136: "bullet"}
    numberings = _tables()["families"]
    families = [family for family in numberings if name.startswith(family)]
    if not families:
        family = "CMR" if re.match(r"CM(BX|TI|SL|B\d|SS|CSC|U)", name) else ""
    else:
        family = max(families, key=len)
    if name.startswith("CMBSY"):
        family = "CMSY"
    return dict(enumerate(numberings[family].split())) if family else {}


def _program_names(record: Any) -> dict[int, str]:
    descriptor = record.get("/FontDescriptor")
    program = descriptor.get_object().get("/FontFile") if descriptor is not None else None
    if program is None:
        return {}
    data = program.get_object().get_data()[:_MOST_PROGRAM]
    head = data[: max(data.find(b"eexec"), 0)]
    return {int(code): name.decode("ascii") for code, name in _NUMBERED.findall(head)}


def _letter(glyph: str, name: str, face: Face, width: float) -> Letter | None:
    if glyph == ".notdef":
        return None
    if glyph in _LIGATURES:
        return Letter(_LIGATURES[glyph], width)
    figure = _FIGURES.match(glyph)
    if figure:
        return Letter(str(_DIGITS.index(figure[1])), width)
    if len(glyph) == 1:
        return Letter(_alphabet(glyph, name), width)

    latex = _tables()["latex"]
    ending = _LARGE.search(glyph) if name.startswith(("CMEX", "LMMathExtension")) else None
    if ending:
        base = glyph[: ending.start()]
        sign = latex.get(glyph) or latex.get(base, UNKNOWN)
        depth = _tables()["depths"][ending[1]]
        return Letter(sign, width, depth, ending[1] in _PARTS)
    is_greek = latex.get(glyph) == f"\\{glyph}"
    if glyph in latex and (face == "math" or is_greek or not _text_letter(glyph)):
        return Letter(latex[glyph], width, _depth(latex[glyph], name))
    text = _text_letter(glyph)
    return Letter(text, width) if text else None


def _depth(latex: str, name: str) -> float:
    """Of a sign that hangs from its origin: with Knuth's fonts even the smallest root does."""
    return _RADICAL_DEPTH if latex == r"\sqrt" and name.startswith(_HANGING_ROOTS) else 0.0


def _alphabet(letter: str, name: str) -> str:
    if name.startswith(_DOUBLE_STRUCK) and letter.isupper():
        return rf"\mathbb{{{letter}}}"
    if name.startswith(_SCRIPT) and letter.isupper():
        return rf"\mathcal{{{letter}}}"
    return letter


def _text_letter(glyph: str) -> str:
    """A letter of ordinary text, by the name that all fonts use; empty for one that only
    mathematics knows."""
    return adobe_glyphs.get("/" + glyph, "")
