"""The audit as one self-contained page: maps of all heads, the key-cache table, one card per head."""

from __future__ import annotations

from collections import Counter
from html import escape

import numpy as np

from headwright.report import style
from headwright.report.page import page
from headwright.trained.cache.quantise import PER, UNSETTLED, KeyNoise, Setting
from headwright.trained.cards import Audit, Card
from headwright.trained.page.drawings import anchor, head_map, weights_image
from headwright.trained.measures.from_rows import TITLES


def report(audit: Audit) -> str:
    """The page. Everything that came from outside (the model's name) is escaped here."""
    heads = audit.extent
    body = [
        f"<style>{_CSS}</style><h1>Audit of {escape(audit.model)}</h1><p class='soft'>{heads}. The tapped model's "
        f"output differs from the untouched one's by {audit.difference:.1g} (relative).</p>",
        _maps(audit),
        _key_noise(audit.key_noise) if audit.key_noise is not None else "",
        _picker(audit),
        '<div id="cards">' + "".join(_card(card, audit.columns) for card in audit) + "</div>",
        f"<script>{_SCRIPT}</script>",
    ]
    return page(f"Audit of {audit.model}", "\n".join(body), description=heads)


def _maps(audit: Audit) -> str:
    figures = []
    for name in audit.columns:
        title, meaning = TITLES[name]
        drawing = head_map(audit.cards, name, title)
        if drawing:
            figures.append(
                f"<figure>{drawing}<figcaption><b>{escape(title)}</b>: {escape(meaning)}. "
                f'{_extremes(audit, name)} <button class="save" data-name="{name}">SVG</button></figcaption></figure>'
            )
    return (
        "<section><h2>All heads</h2><p class='soft'>Layers down, heads across; a fuller cell is a larger number. "
        "A cell leads to its card.</p><div class='maps'>" + "".join(figures) + "</div></section>"
    )


def _extremes(audit: Audit, name: str) -> str:
    known = [c.measures[name] for c in audit if np.isfinite(c.measures[name])]
    return f"{min(known):.3g} to {max(known):.3g}, median {np.median(known):.3g}."


def _picker(audit: Audit) -> str:
    options = "".join(
        f'<option value="{name}">{escape(TITLES[name][0])}</option>' for name in audit.columns
    )
    return (
        '<p><label>Order the cards by <select id="order"><option value="">layer and head</option>'
        f"{options}</select></label></p>"
    )


def _card(card: Card, columns: tuple[str, ...]) -> str:
    known = [name for name in columns if np.isfinite(card.measures[name])]
    data = " ".join(f'data-{name.replace("_", "-")}="{card.measures[name]:.6g}"' for name in known)
    numbers = "".join(
        f"<div title='{escape(TITLES[name][1], quote=True)}'><dt>{escape(TITLES[name][0])}</dt>"
        f"<dd>{_number(card, name)}</dd></div>"
        for name in known
    )
    picture = weights_image(card.picture, card.name) if card.picture is not None else ""
    return (
        f'<article id="{anchor(card)}" {data}><div class="top">{picture}<div><h2>{escape(card.name)}</h2>'
        f"<p>{escape(card.sentence)}</p></div></div><dl>{numbers}</dl></article>"
    )


def _number(card: Card, name: str) -> str:
    error = card.errors.get(name, np.nan)
    spread = f" <span class='soft'>± {error:.2g}</span>" if np.isfinite(error) and error > 0 else ""
    return f"{card.measures[name]:.3g}{spread}"


def _key_noise(noise: KeyNoise) -> str:
    rows = "".join(
        f"<tr><td>{bits}</td><td>per {per}</td>"
        + "".join(f"<td>{number}</td>" for number in numbers)
        + "</tr>"
        for bits, per, *numbers in map(settings_line, noise.settings)
    )
    return (
        "<section><h2>Keys stored in few bits</h2><p>How far each head's output moves when its keys are rounded, "
        "relative to the output: predicted from the exact moments of a head with random keys, and measured by really "
        "rounding the keys. ± is the median standard error over the sampled rows.</p>"
        "<div class='wide'><table><tr><th>bits</th><th>step shared</th><th>predicted, median</th>"
        f"<th>measured, median</th><th>rank correlation</th></tr>{rows}</table></div>{_scatter(noise)}"
        f"<h3>Fewest bits per head</h3>{_budgets(noise)}</section>"
    )


def _scatter(noise: KeyNoise) -> str:
    with style.figure(5.2, 3.4) as (drawing, axes):
        for colour, setting in zip(style.HEADS * 4, noise.settings, strict=False):
            positive = (setting.predicted > 0) & (setting.measured > 0)
            axes.loglog(
                setting.predicted[positive], setting.measured[positive], ".", ms=4, alpha=0.6, color=colour,
                label=f"{setting.bits} bits per {setting.per}",
            )  # fmt: skip
        axes.axline((1e-3, 1e-3), (1.0, 1.0), color=style.ROLES["muted"], lw=0.8)
        axes.set(xlabel="predicted output error", ylabel="measured output error")
        axes.legend(loc="upper left")
        title = "Predicted against measured output error, one dot per head and setting"
        return (
            f"<figure>{style.svg(drawing, title=title)}<figcaption>{title}.</figcaption></figure>"
        )


def _budgets(noise: KeyNoise) -> str:
    lines = []
    for per in PER:
        for one in noise.budgets(per=per):
            lines.append(
                f"<tr><td>{one['error']:.0%}</td><td>per {per}</td><td>{budget_counts(one['bits'])}</td>"
                f"<td>{one['unsettled']}</td></tr>"
            )
    return (
        f"<p>From the prediction. Unsettled: heads whose answer changes within {UNSETTLED:g} standard errors.</p>"
        "<div class='wide'><table><tr><th>output error</th><th>step shared</th><th>heads by bits</th>"
        "<th>unsettled</th></tr>" + "".join(lines) + "</table></div>"
    )  # fmt: skip


def budget_counts(budget: list[int | None]) -> str:
    """`2 bits: 120 heads, 4 bits: 30, more: 2`"""
    counts = Counter(budget)
    known = [f"{bits} bits: {counts[bits]}" for bits in sorted(b for b in counts if b is not None)]
    return ", ".join([*known, *([f"more: {counts[None]}"] if counts[None] else [])])


def settings_line(setting: Setting) -> tuple[str, ...]:
    """One line of the table: bits, what shares a step, both errors with their standard errors, rank
    correlation."""
    predicted = _with_error(setting.predicted, setting.predicted_se)
    measured = _with_error(setting.measured, setting.measured_se)
    correlation = setting.rank_correlation
    shown = f"{correlation:.3f}" if np.isfinite(correlation) else "-"
    return str(setting.bits), setting.per, predicted, measured, shown


def _with_error(values: np.ndarray, errors: np.ndarray) -> str:
    spread = np.median(errors)
    return f"{np.median(values):.2%}" + (f" ± {spread:.2%}" if np.isfinite(spread) else "")


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
button.save{font:inherit;font-size:.8rem;color:var(--accent);background:none;border:1px solid var(--line);
border-radius:.3rem;padding:.05rem .4rem;cursor:pointer}
@media(prefers-color-scheme:dark){.weights,.maps svg{filter:brightness(1.7)}}
select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.3rem;padding:.2rem}
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
