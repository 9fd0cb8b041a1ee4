"""What the author meant a token to see: full, causal, window=W, prefix=P or documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headwright.errors import InputError
from headwright.inputs import shown

_WITH_NUMBER = ("window", "prefix")
_PLAIN = ("full", "causal", "documents")
_FORMS = "full, causal, window=W, prefix=P or documents"


@dataclass(frozen=True)
class Intent:
    """`size` is the window's number of keys (the query's own among them), or the prefix's number of
    tokens that all tokens see."""

    kind: str
    size: int | None = None

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}={self.size}"

    def sees(self, queries: int, keys: int) -> np.ndarray | None:
        """True where query i may see key j, the last query being at the last key; None for
        documents, whose borders the layer is told when it runs."""
        i = np.arange(queries)[:, None] + (keys - queries)
        j = np.arange(keys)[None, :]
        if self.kind == "full":
            return np.ones((queries, keys), bool)
        if self.kind == "causal":
            return j <= i
        if self.kind == "window":
            return (j <= i) & (j > i - (self.size or 1))
        if self.kind == "prefix":
            return (j <= i) | (j < (self.size or 0))
        return None


def intent(text: str | Intent | None) -> Intent | None:
    """From the words of the command line."""
    if text is None or isinstance(text, Intent):
        return text
    kind, equals, number = str(text).partition("=")
    if kind in _PLAIN and not equals:
        return Intent(kind)
    if kind in _WITH_NUMBER and number.isdecimal() and int(number) >= 1:
        return Intent(kind, int(number))
    raise InputError(wanted=f"an intent: {_FORMS}", got=shown(text), attempt="expect='causal'")
