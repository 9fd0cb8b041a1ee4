"""Unicode as students type it: scripts, fractions and styled letters in their plain spelling."""

from __future__ import annotations

import re
import unicodedata

from headwright.homework.meaning.formula import vocabulary

_SUB, _SUP = "".join(vocabulary.SUBSCRIPTS), "".join(vocabulary.SUPERSCRIPTS)


def simplify(text: str) -> str:
    """Unicode sub- and superscripts, fractions and styled letters in their plain spelling."""
    text = re.sub(
        f"[{_SUB}]+", lambda m: "_{" + "".join(vocabulary.SUBSCRIPTS[c] for c in m[0]) + "}", text
    )
    text = re.sub(
        f"[{_SUP}]+", lambda m: "^{" + "".join(vocabulary.SUPERSCRIPTS[c] for c in m[0]) + "}", text
    )
    for sign, (above, below) in vocabulary.FRACTIONS.items():
        text = text.replace(sign, f"({above}/{below})")
    if not text.isascii():
        text = "".join(
            c if c in vocabulary.GREEK_LETTERS or c in vocabulary.RELATION_COMMANDS else _plain(c)
            for c in text
        )
    return text


def _plain(c: str) -> str:
    """𝐤 -> k. Circled numbers stay: they number lines and are no factors."""
    if c in "①②③④⑤⑥⑦⑧⑨…":
        return c
    folded = unicodedata.normalize("NFKC", c)
    return folded if len(folded) == 1 else c
