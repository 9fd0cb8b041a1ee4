"""The audit as one self-contained page: maps of all heads, the key-cache table, one card per
head."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from headwright.report.page import page
from headwright.trained.cache.budget.outcome import Budgeted
from headwright.trained.cache.key_noise import KeyNoise
from headwright.trained.cards import Card, columns
from headwright.trained.measures.from_rows import TITLES
from headwright.trained.page.cache_plan import cache_plan_section
from headwright.trained.page.drawings import anchor, head_map, weights_image
from headwright.trained.page.key_noise import key_noise_section


def report(
    cards: Sequence[Card],
    key_noise: KeyNoise | None,
    cache: Budgeted | None,
    *,
    model: str,
    extent: str,
    difference: float,
) -> str:
    """The page. Everything that came from outside (the model's name) is escaped here."""
    names = columns(cards)
    heading = (
        f"<style>{_CSS}</style><h1>Audit of {escape(model)}</h1>"
        f"<p class='soft'>{extent}. The tapped model's "
        f"output differs from the untouched one's by {difference:.1g} (relative).</p>"
    )
    articles = "".join(_card(card, names) for card in cards)
    body = [
        heading,
        _maps(cards, names),
        "" if cache is None else cache_plan_section(cache),
        "" if key_noise is None else key_noise_section(key_noise),
        _picker(names),
        f'<div id="cards">{articles}</div>',
        f"<script>{_SCRIPT}</script>",
    ]
    return page(f"Audit of {model}", "\n".join(body), description=extent)


def _maps(cards: Sequence[Card], names: tuple[str, ...]) -> str:
    figures = "".join(_map(cards, name) for name in names)
    return (
        "<section><h2>All heads</h2><p class='soft'>Layers down, heads across; a fuller cell is "
        "a larger number. A cell leads to its card.</p>"
        f"<div class='maps'>{figures}</div></section>"
    )


def _map(cards: Sequence[Card], name: str) -> str:
    """Empty where no head has this measure."""
    title, meaning = TITLES[name]
    drawing = head_map(cards, name, title)
    if not drawing:
        return ""
    button = f'<button class="save" data-name="{name}">SVG</button>'
    caption = f"<b>{escape(title)}</b>: {escape(meaning)}. {_extremes(cards, name)} {button}"
    return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


def _extremes(cards: Sequence[Card], name: str) -> str:
    values = [card.measures[name] for card in cards]
    known = [value for value in values if np.isfinite(value)]
    return f"{min(known):.3g} to {max(known):.3g}, median {np.median(known):.3g}."


def _picker(names: tuple[str, ...]) -> str:
    options = []
    for name in names:
        title, _ = TITLES[name]
        options.append(f'<option value="{name}">{escape(title)}</option>')
    return (
        '<p><label>Order the cards by <select id="order"><option value="">layer and head</option>'
        f"{''.join(options)}</select></label></p>"
    )


def _card(card: Card, names: tuple[str, ...]) -> str:
    known = [name for name in names if np.isfinite(card.measures[name])]
    data = " ".join(_data(card, name) for name in known)
    numbers = "".join(_number(card, name) for name in known)
    picture = "" if card.picture is None else weights_image(card.picture, card.name)
    return (
        f'<article id="{anchor(card)}" {data}><div class="top">{picture}'
        f"<div><h2>{escape(card.name)}</h2>"
        f"<p>{escape(card.sentence)}</p></div></div><dl>{numbers}</dl></article>"
    )


def _data(card: Card, name: str) -> str:
    """What the page's script orders the cards by."""
    attribute = name.replace("_", "-")
    return f'data-{attribute}="{card.measures[name]:.6g}"'


def _number(card: Card, name: str) -> str:
    title, meaning = TITLES[name]
    error = card.errors.get(name, np.nan)
    shown = f"{card.measures[name]:.3g}"
    if np.isfinite(error) and error > 0:
        shown += f" <span class='soft'>± {error:.2g}</span>"
    return (
        f"<div title='{escape(meaning, quote=True)}'><dt>{escape(title)}</dt><dd>{shown}</dd></div>"
    )


_CSS = """
main{max-width:70rem}
.maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr));gap:1.2rem}
.maps figcaption{margin-top:.4rem}
.maps a:focus rect,.maps a:hover rect{stroke:currentColor;stroke-width:1}
#cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:1rem}
#cards article{margin:0;scroll-margin-top:1rem}
#cards article:target{border-color:var(--accent);box-shadow:0 0 0 2px var(--accent)}
.top{display:flex;gap:.9rem;align-items:flex-start}
.weights{image-rendering:pixelated;border:1px solid var(--line);flex:none;width:128px;height:128px}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.1rem 1rem;
margin:.7rem 0 0;font-size:.85rem}
dl div{display:flex;justify-content:space-between;gap:.5rem;border-bottom:1px solid var(--line)}
dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums;white-space:nowrap}
button.save{font:inherit;font-size:.8rem;color:var(--accent);background:none;
border:1px solid var(--line);border-radius:.3rem;padding:.05rem .4rem;cursor:pointer}
@media(prefers-color-scheme:dark){.weights,.maps svg{filter:brightness(1.7)}}
select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:.3rem;padding:.2rem}
"""

_SCRIPT = """
"use strict";
const cards = document.getElementById("cards"), first = [...cards.children];
document.getElementById("order").addEventListener("change", (event) => {
  const name = event.target.value.replaceAll("_", "-");
  const size = (card) => Number(card.getAttribute("data-" + name) ?? -Infinity);
  cards.append(...(name ? [...first].sort((a, b) => size(b) - size(a)) : first));
});
for (const button of document.querySelectorAll("button.save")) {
  button.addEventListener("click", () => {
    const text = button.closest("figure").querySelector("svg").outerHTML;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
    link.download = button.dataset.name + ".svg";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
"""
