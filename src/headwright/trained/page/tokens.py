"""Where heads look, packed for the page's script; and one head's view in a notebook.

There is one renderer, `static/tokens.js`: the report shows it for many heads, a notebook in a frame
for one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from headwright.report.page import page
from headwright.trained.cards import Card
from headwright.trained.findings.wording import share
from headwright.trained.page.embedding import embedded, static
from headwright.trained.passage.looks import Looks, Passage
from headwright.trained.passage.spelling import runs_right_to_left

# Letters of the page that all looks together may take.
_MOST = 2_400_000
# A row's count takes 4/3 letters, a key and its weight take 16/3.
_LETTERS = 4 / 3
_BYTES = 4
_FULL = 65535


@dataclass(frozen=True)
class Looked:
    """Passages and all heads' looks at them, in the order of the cards; None for heads without."""

    passages: Mapping[str, Passage]
    looks: Sequence[Looks | None]


def thinned(cards: Sequence[Card], passages: Mapping[str, Passage]) -> Looked:
    """With every second query left out, and again, until all heads fit the page."""
    looked = Looked(passages, [card.looks for card in cards])
    while _letters(looked.looks) > _MOST and _most_queries(looked) > 1:
        fewer = {stack: _every_second(one) for stack, one in looked.passages.items()}
        looked = Looked(fewer, [one and _half(one) for one in looked.looks])
    return looked


def _letters(looks: Sequence[Looks | None]) -> float:
    rows = [row for one in looks if one for row in one.keys]
    return _LETTERS * (len(rows) + _BYTES * sum(row.size for row in rows))


def _most_queries(looked: Looked) -> int:
    return max((len(one.queries) for one in looked.passages.values()), default=0)


def _every_second(passage: Passage) -> Passage:
    return replace(passage, queries=passage.queries[::-2][::-1])


def _half(looks: Looks) -> Looks:
    return Looks(looks.keys[::-2][::-1], looks.weights[::-2][::-1])


def pack(looks: Sequence[Looks | None]) -> dict[str, str]:
    """Rows of all heads one after the other: how many keys each has, the keys, their weights."""
    rows = [row for one in looks if one for row in one.keys]
    weights = [row for one in looks if one for row in one.weights]
    counts = np.asarray([row.size for row in rows], dtype=np.uint8)
    whole = np.concatenate([np.zeros(0), *weights])
    return {
        "counts": _base64(counts),
        "keys": _base64(np.concatenate([np.zeros(0, dtype=int), *rows]).astype("<u2")),
        "weights": _base64(np.round(_FULL * np.clip(whole, 0.0, 1.0)).astype("<u2")),
    }


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def passage_plain(passage: Passage) -> dict[str, Any]:
    same = passage.query_tokens == passage.key_tokens
    return {
        "keys": list(passage.key_tokens),
        "queries": None if same else list(passage.query_tokens),
        "places": list(passage.queries),
        "special": list(passage.special),
        "rtl": runs_right_to_left(passage.key_tokens),
    }


@dataclass(frozen=True)
class TokenView:
    """One head on the passage: the last line of a notebook cell shows it."""

    card: Card
    passage: Passage

    def __repr__(self) -> str:
        place = self.passage.queries[-1]
        token = self.passage.query_tokens[place]
        return f"<TokenView of head {self.card.name}: {token!r:.40} ({place}) {self._last_words()}>"

    def _last_words(self) -> str:
        """Where the last query looks."""
        assert self.card.looks is not None, "a view is made of a head with looks"
        keys = self.card.looks.keys[-1][:3]
        weights = self.card.looks.weights[-1][:3]
        named = []
        for key, weight in zip(keys, weights, strict=True):
            named.append(f"{share(float(weight))} on {self.passage.key_tokens[key]!r:.40} ({key})")
        return f"looks at {', '.join(named)}" if named else "has no key of 1% or more"

    def to_html(self) -> str:
        """A page of its own."""
        data = {"passage": passage_plain(self.passage), "looks": pack([self.card.looks])}
        heading = f"<h1>Head {escape(self.card.name)}</h1><p>{escape(self.card.sentence)}</p>"
        body = (
            f"<style>main{{max-width:62rem}}{static('tokens.css')}</style>{heading}"
            f'<section id="view"></section>{embedded(data, "audit")}'
            f"<script>{static('tokens.js')}</script><script>{_SHOW}</script>"
        )
        return page(f"Head {self.card.name}", body, description=self.card.sentence)

    def _repr_html_(self) -> str:
        """In a frame, so that neither page's styles reach the other."""
        source = escape(self.to_html(), quote=True)
        title = escape(f"where head {self.card.name} looks", quote=True)
        size = 'width="100%" height="620" style="border:0"'
        return f'<iframe srcdoc="{source}" {size} title="{title}"></iframe>'


_SHOW = """
const told = JSON.parse(document.getElementById("audit").textContent);
const rows = unpackLooks(told.looks, [told.passage.places.length])(0, told.passage.places);
document.getElementById("view").append(tokenView(told.passage, rows, document.title, rows.length));
document.body.dataset.ready = "";
"""
