"""A record in a notebook's cell: the table, and the picture of what depends on what."""

from __future__ import annotations

from html import escape
from typing import Any

from headwright.probes.page import parts
from headwright.probes.page.dependency import dependency_svg

# A notebook has its own colours; these are readable on its light and its dark page.
_COLOURS = {"ok": "#009e73", "no": "#d55e00", "maybe": "#b97900", "soft": "inherit"}


def cell(record: Any) -> str:
    rows = "".join(_row(finding) for finding in record.properties)
    lines = [
        f"<strong>{escape(name)}</strong>: {escape(words)}"
        for name, words in {"pattern": record.pattern, "group": record.group}.items()
        if words
    ]
    said = f"<p>{'<br>'.join(lines)}</p>" if lines else ""
    return (
        f"<p><strong>{escape(record.layer)}</strong>: {escape(parts.verdict(record))} "
        f"{escape(parts.headline(record))}.</p><table>{rows}</table>{said}{dependency_svg(record)}"
    )


def _row(finding: Any) -> str:
    sign, kind = parts.SIGNS[finding.status]
    cells = [
        f"<td>{escape(finding.name)}</td>",
        f'<td style="color:{_COLOURS[kind]};white-space:nowrap">{sign} {finding.status}</td>',
        f'<td style="text-align:left">{escape(finding.evidence)}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"
