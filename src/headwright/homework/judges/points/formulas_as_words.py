r"""Formulas spelled so that a sentence can be read across them: `\mathbf{v}_{a}` is `v_a`,
`\gamma \gg 1` is `gamma >> 1`."""

from __future__ import annotations

import re

from headwright.homework.meaning.formula.characters import simplify
from headwright.homework.meaning.formula.vocabulary import (
    DRESSING,
    GREEK_LETTERS,
    RELATION_COMMANDS,
    SEPARATORS,
    TEXTS,
    VARIANTS,
)

_FRACTION = re.compile(r"\\[dtc]?frac\s?\{([^{}]{0,80})\}\s?\{([^{}]{0,80})\}")
_SHORT_FRACTION = re.compile(r"\\[dtc]?frac\s?(\d)\s?(\d)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?")
_SPACING = re.compile(r"\\[,;:! ]|\\\\|&|~(?!=)|[{}$]")
_NORM = re.compile(r"\\\||‖|∥|\|\|")
_EMPHASIS = re.compile(r"\*\*|``|''|[\"“”«»「」『』]")
_BEFORE_SCRIPT = re.compile(r"\s+(?=[_^])|(?<=[_^])\s+")
_INDEX_IN_PARENTHESES = re.compile(r"_\((\w)\)")
_SQUEEZED = re.compile(r"(?<![A-Za-z_\\])([vVkK])([ab])(?![A-Za-z0-9_])")
# Commands that leave nothing behind; any other one leaves its name.
_SILENT = DRESSING | TEXTS | SEPARATORS | {"norm", "lVert", "rVert", "Vert", "bigskip", "newline"}


def as_words(text: str) -> str:
    """The text in one line of plain characters, its formulas in the spelling of `points.toml`."""
    text = simplify(_EMPHASIS.sub("", text))
    text = _NORM.sub("|", text)
    text = _SHORT_FRACTION.sub(r" \1/\2", text)
    text = _FRACTION.sub(_fraction, text)
    text = _COMMAND.sub(_command, text)
    text = _SPACING.sub(lambda match: "" if match[0] in "{}$" else " ", text)
    text = "".join(_letter(character) for character in text)
    text = _BEFORE_SCRIPT.sub("", text)
    text = _INDEX_IN_PARENTHESES.sub(r"_\1", text)
    text = _SQUEEZED.sub(r"\1_\2", text)
    return " ".join(text.split())


def _fraction(match: re.Match[str]) -> str:
    above, below = match.groups()
    if len(above) == len(below) == 1:
        return f" {above}/{below}"
    return f" ({above})/({below})"


def _command(match: re.Match[str]) -> str:
    name = match[1]
    if name in RELATION_COMMANDS:
        return f" {RELATION_COMMANDS[name]} "
    if name in _SILENT:
        return " " if name in SEPARATORS else ""
    return f" {VARIANTS.get(name, name)}"


def _letter(character: str) -> str:
    if character in GREEK_LETTERS:
        return GREEK_LETTERS[character]
    relation = RELATION_COMMANDS.get(character)
    return f" {relation} " if relation and not character.isascii() else character
