"""The section of the page on what changed against another audit."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from headwright.trained.cards import title
from headwright.trained.findings.comparison import FALSE, ChangedHead, Changes
from headwright.trained.findings.wording import number
from headwright.trained.page.summary import link

# Heads shown at once, and with a click; changes named per head.
_OPEN = 12
_MOST = 500
_NAMED = 3


def changes_section(changes: Changes) -> str:
    said = " ".join(changes.sentences)
    compared = ", ".join(title(name)[0] for name in changes.compared)
    first = _table(changes.heads[:_OPEN]) if changes.heads else ""
    others = changes.heads[_OPEN:_MOST]
    more = ""
    if others:
        more = f"<details><summary>{len(others)} more heads</summary>{_table(others)}</details>"
    return (
        f"<section><h2>Changed against {escape(changes.before)}</h2><p>{escape(said)}</p>"
        f'<p class="soft">Compared: {escape(compared)}. Of the changes listed, {FALSE:.0%} are '
        "expected to be chance. Size: beyond twice the standard error, in standard deviations of "
        f"the measure over the heads.</p>{first}{more}</section>"
    )


def _table(heads: Sequence[ChangedHead]) -> str:
    rows = "".join(_row(head) for head in heads)
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="changed heads"><table><thead><tr>'
        '<th scope="col">head</th><th scope="col">size</th><th scope="col">before, now</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _row(head: ChangedHead) -> str:
    named = "; ".join(str(change) for change in head.changes[:_NAMED])
    return (
        f'<tr><th scope="row" class="links">{link(head.card)}</th>'
        f"<td>{number(head.size)}</td><td>{escape(named)}</td></tr>"
    )
