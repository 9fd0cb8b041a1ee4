"""The table of an X-ray and its counterexamples, as HTML. Everything that came from outside is
escaped here."""

from __future__ import annotations

from html import escape
from typing import Any

from headwright.probes.finding import (
    BROKEN,
    HOLDS,
    MEANINGS,
    NOT_APPLICABLE,
    UNCLEAR,
    Counterexample,
    Finding,
    size,
)

# Status -> its sign, and the class of its colour on every page.
SIGNS = {
    HOLDS: ("✓", "ok"),
    BROKEN: ("✗", "no"),
    UNCLEAR: ("?", "maybe"),
    NOT_APPLICABLE: ("–", "soft"),
}
_FORMS = {
    "qkv": "function of (q, k, v)",
    "hidden": "layer on hidden states",
    "model": "whole model",
}


def headline(record: Any) -> str:
    """What was examined, in one line."""
    expected = f"; expected: {record.asked.expect}" if record.asked.expect else ""
    form = _FORMS.get(record.form, record.form)
    sizes = f"{record.tokens} tokens of width {record.width}"
    return f"{form} in {record.dtype}, {sizes}, seed {record.asked.seed}{expected}"


def verdict(record: Any) -> str:
    """The answer in one sentence."""
    if record.broken:
        return f"Broken: {_listed(record.with_status(BROKEN))}."
    unclear = record.with_status(UNCLEAR)
    but = f"; unclear: {', '.join(unclear)}" if unclear else ""
    return f"Nothing is broken{but}."


def _listed(names: tuple[str, ...]) -> str:
    """a, b and c."""
    first = ", ".join(names[:-1])
    return f"{first} and {names[-1]}" if first else names[-1]


def status_words(status: str) -> str:
    sign, colour = SIGNS[status]
    return f'<span class="{colour}"><b aria-hidden="true">{sign}</b>&nbsp;{escape(status)}</span>'


def table(findings: tuple[Finding, ...]) -> str:
    rows = "".join(_row(finding) for finding in findings)
    head = "<tr><th>property</th><th>status</th><th>evidence</th></tr>"
    return f'<table class="found"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _row(finding: Finding) -> str:
    meaning = escape(MEANINGS.get(finding.name, ""))
    return (
        f'<tr class="{SIGNS[finding.status][1]}-row"><td><b>{escape(finding.name)}</b>'
        f'<span class="meaning">{meaning}</span></td>'
        f"<td>{status_words(finding.status)}</td><td>{escape(finding.evidence)}</td></tr>"
    )


def facts(record: Any) -> str:
    """The pattern, the group and what else is worth knowing."""
    lines = {"Pattern found": record.pattern, "Group": record.group}
    rows = [
        f"<tr><th>{name}</th><td>{escape(words)}</td></tr>"
        for name, words in lines.items()
        if words
    ]
    rows += [f"<tr><th>Note</th><td>{escape(note)}</td></tr>" for note in record.notes]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def counterexamples(record: Any) -> str:
    """In words and as Python."""
    shown = [one for one in record.broken if one.counterexample is not None]
    parts = [_counterexample(one.name, one.counterexample) for one in shown]
    return "".join(parts)


def _counterexample(name: str, example: Counterexample) -> str:
    explained = ""
    if example.rounding > 0:
        explained = (
            f'<p class="soft">A difference of {size(example.difference)}, where rounding '
            f"explains {example.rounding:.2g}.</p>"
        )
    return (
        f"<h3>{escape(name)}</h3><p>{escape(example.words)}</p>{explained}"
        f'<pre tabindex="0">{escape(example.script.rstrip())}</pre>'
    )
