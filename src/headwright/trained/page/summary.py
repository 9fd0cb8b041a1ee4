"""What stands out and what breaks first: the beginning of the page, and all that a notebook
shows."""

from __future__ import annotations

from html import escape

from headwright.trained.cards import Card
from headwright.trained.findings.breaking import Breaking
from headwright.trained.findings.remarkable import Finding, Remarkable

# Heads of a sentence that have a link to their card.
_LINKED = 5


def anchor(card: Card) -> str:
    return f"head-{card.stack}-{card.layer}-{card.head}"


def link(card: Card) -> str:
    return f'<a href="#{escape(anchor(card), quote=True)}">{escape(card.name)}</a>'


def sentences(found: Remarkable, *, linked: bool) -> str:
    items = "".join(f"<li>{_sentence(finding, linked)}</li>" for finding in found.findings)
    return f'<ol class="findings">{items}</ol>'


def _sentence(finding: Finding, linked: bool) -> str:
    said = escape(finding.sentence)
    if not linked or not finding.heads:
        return said
    links = " ".join(link(card) for card in finding.heads[:_LINKED])
    return f'{said} <span class="links">{links}</span>'


def breaks_first(breaking: Breaking, *, linked: bool) -> str:
    """Empty where nothing was measured that says so."""
    if not breaking.heads:
        return ""
    rows = []
    for one in breaking.heads:
        name = link(one.card) if linked else escape(one.card.name)
        rows.append(f'<tr><th scope="row" class="links">{name}</th><td>{escape(one.why)}</td></tr>')
    return (
        f"<p>By {escape(breaking.measured_by)}.</p>"
        f'<table><thead><tr><th scope="col">head</th><th scope="col">why</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def summary(found: Remarkable, breaking: Breaking, *, model: str, extent: str) -> str:
    """For a notebook."""
    table = breaks_first(breaking, linked=False)
    breaks = f"<p><b>Breaks first</b></p>{table}" if table else ""
    return (
        f"<div><p><b>Audit of {escape(model)}</b>: {escape(extent)}</p>"
        f"{sentences(found, linked=False)}{breaks}</div>"
    )
