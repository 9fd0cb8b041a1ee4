"""The audit as one self-contained page: what stands out first, then what breaks first, where the
remarkable heads look, and all heads behind a map, a table and a click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from headwright.report.page import page
from headwright.trained.cache.decoded.outcome import Budgeted
from headwright.trained.cache.key_noise import KeyNoise
from headwright.trained.cards import Card
from headwright.trained.findings.breaking import Breaking
from headwright.trained.findings.comparison import Changes
from headwright.trained.findings.remarkable import Remarkable
from headwright.trained.page.cache_plan import cache_plan_section
from headwright.trained.page.changes import changes_section
from headwright.trained.page.embedding import embedded, static
from headwright.trained.page.key_noise import key_noise_section
from headwright.trained.page.payload import payload
from headwright.trained.page.summary import breaks_first, link, sentences
from headwright.trained.passage.looks import LEAST, Passage

# Heads whose tokens are shown at once.
_SHOWN_LOOKING = 4


@dataclass(frozen=True)
class Shown:
    """Everything the page shows of an audit."""

    cards: Sequence[Card]
    key_noise: KeyNoise | None
    passages: Mapping[str, Passage]
    remarkable: Remarkable
    breaking: Breaking
    changes: Changes | None = None
    cache: Budgeted | None = None


def report(shown: Shown, *, model: str, extent: str, difference: float) -> str:
    """The page. Everything that came from outside (names, tokens) is escaped here or set as text by
    the scripts."""
    heading = (
        f"<style>{static('report.css')}{static('tokens.css')}</style>"
        f"<h1>Audit of {escape(model)}</h1>"
        f"<p class='soft'>{escape(extent)}. The measured model's output differs from the untouched "
        f"one's by {difference:.1g} (relative). Head 5.2 is head 2 of layer 5, both from 0.</p>"
        "<noscript><p>Maps, cards and the table need scripts; they are in this file.</p></noscript>"
    )
    data = payload(shown.cards, shown.passages, shown.remarkable)
    body = [
        heading,
        f"<section><h2>What stands out</h2>{sentences(shown.remarkable, linked=True)}</section>",
        "" if shown.changes is None else changes_section(shown.changes),
        _breaking(shown.breaking),
        _looking(shown),
        _MAP,
        "" if shown.cache is None else cache_plan_section(shown.cache),
        "" if shown.key_noise is None else key_noise_section(shown.key_noise),
        _TABLE,
        '<dialog id="card" aria-labelledby="card-title"></dialog>',
        embedded(data, "audit"),
        f"<script>{static('tokens.js')}</script>",
        f"<script>{static('report.js')}</script>",
    ]
    return page(f"Audit of {model}", "\n".join(body), description=extent)


def _breaking(breaking: Breaking) -> str:
    table = breaks_first(breaking, linked=True)
    return f"<section><h2>Breaks first</h2>{table}</section>" if table else ""


def _looking(shown: Shown) -> str:
    """The tokens of the heads that stand out most; of the first ones, where none does."""
    chosen = _one_of_each(shown)
    if not chosen:
        return ""
    number_of = {card.place: i for i, card in enumerate(shown.cards)}
    views = []
    for card, why in chosen:
        views.append(
            f"<div><h3>{link(card)} <span class='soft'>{escape(why)}</span></h3>"
            f'<div data-tokens="{number_of[card.place]}"></div></div>'
        )
    queries = len(shown.passages[chosen[0][0].stack].queries)
    return (
        "<section><h2>Where they look</h2><p class='soft'>The first text. A line is a query: its "
        f"place, its token, and the keys it weighs with {LEAST:.0%} or more among their "
        f"neighbours, darker for more weight. {queries} queries were looked at, most spread evenly "
        "over the text, the others where a token comes again. Other heads: in their cards.</p>"
        f"<div class='looks'>{''.join(views)}</div></section>"
    )


def _one_of_each(shown: Shown) -> list[tuple[Card, str]]:
    """The most remarkable head of each kind, so that four sinks do not fill the page."""
    chosen: dict[str, Card] = {}
    for one in shown.remarkable.heads:
        if one.card.looks is not None and one.card.stack in shown.passages:
            kind, _, _ = one.why.partition(",")
            chosen.setdefault(kind, one.card)
    if not chosen:
        first = [card for card in shown.cards if card.looks and card.stack in shown.passages]
        return [(card, card.sentence) for card in first[:1]]
    return [(card, why) for why, card in list(chosen.items())[:_SHOWN_LOOKING]]


_MAP = """
<section><h2>All heads</h2>
<p><label>Map of <select id="measure"></select></label>
<button type="button" class="plain" id="save-map">SVG</button></p>
<p class="soft">Layers down, heads across; a fuller cell is a larger number and opens its card.
<span id="map-says"></span></p>
<div id="map"></div>
<details id="all-maps"><summary>Maps of all measures</summary><div class="maps"></div></details>
</section>
"""

_TABLE = """
<section><h2>Table</h2>
<p class="soft">The most remarkable heads first; a click on a column orders by it, a second one the
other way round. A head's number opens its card.</p>
<div class="wide" tabindex="0" role="region" aria-label="all heads">
<table id="heads"><thead><tr></tr></thead><tbody></tbody></table></div>
<p><button type="button" class="plain" id="all-heads">Show all heads</button></p>
</section>
"""
