"""The whole page of one layer: the table first, then the pictures, then how to repeat a break."""

from __future__ import annotations

from html import escape
from typing import Any

from headwright.probes.page import parts
from headwright.probes.page.dependency import dependency_svg, legend
from headwright.probes.page.group import group_svg
from headwright.probes.page.several import parts_section
from headwright.probes.script import preamble
from headwright.report.page import page


def page_of(record: Any) -> str:
    title = f"X-ray of {record.layer}"
    colour = "no" if record.broken else "ok"
    body = (
        f"{STYLE}<h1>{escape(title)}</h1>"
        f'<p class="lead {colour}">{escape(parts.verdict(record))}</p>'
        f'<p class="soft">{escape(parts.headline(record))}</p>'
        f"{sections(record)}"
    )
    return page(title, body, description=parts.verdict(record))


def sections(record: Any) -> str:
    found = f"{parts.table(record.properties)}{parts.facts(record)}"
    made = [
        f"<section><h2>Properties</h2>{found}</section>",
        parts_section(record.parts),
        dependency_section(record),
        group_section(record),
        _counterexamples(record),
    ]
    return "".join(made)


def dependency_section(record: Any) -> str:
    drawn = dependency_svg(record)
    if not drawn:
        return ""
    said = "Each output in its row, and the tokens it moves with."
    return (
        f"<section><h2>What depends on what</h2><figure>{drawn}{legend(record)}"
        f"<figcaption>{said}</figcaption></figure></section>"
    )


def group_section(record: Any) -> str:
    drawn = group_svg(record)
    if not drawn:
        return ""
    said = f"{escape(record.group)}. Joined tokens may change places; hollow ones may not."
    return (
        f'<section><h2>Permutations</h2><figure><div class="wide">{drawn}</div>'
        f"<figcaption>{said}</figcaption></figure></section>"
    )


def _counterexamples(record: Any) -> str:
    shown = parts.counterexamples(record)
    if not shown:
        return ""
    return (
        "<section><h2>Smallest counterexamples</h2>"
        "<p>Each ends in an assertion that fails while the layer is broken; before it:</p>"
        f'<pre tabindex="0">{escape(preamble(record))}</pre>{shown}</section>'
    )


STYLE = """<style>
.lead{font-size:1.15rem;font-weight:600;margin:.2rem 0}
.found{width:100%}
.found td{padding:.4rem .9rem .4rem 0}
.found td:nth-child(2){white-space:nowrap}
.found td:first-child{min-width:7.5rem;width:34%}
.meaning{display:block;color:var(--soft);font-size:.82rem;line-height:1.3}
.soft-row td{color:var(--soft)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.6rem 0 .2rem;
font-size:.88rem}
.legend svg{display:inline-block;vertical-align:-.2em;margin-right:.25rem}
pre{background:var(--paper);border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem;
white-space:pre;overflow-x:auto}
@media(max-width:34rem){.found thead{display:none}
.found tr{display:grid;grid-template-columns:1fr auto;border-bottom:1px solid var(--line);
padding:.45rem 0}
.found td{border:0;padding:0 .2rem 0 0}.found td:first-child{width:auto}
.found td:nth-child(3){grid-column:1/-1;margin-top:.15rem}}
</style>"""
