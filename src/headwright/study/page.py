"""index.html of a study: what was asked, what came out, the first rows, what failed. It says
nothing about the run that wrote it, so the same rows give the same page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from headwright.files import write_text
from headwright.report.formula import typeset
from headwright.report.page import page, scrolling
from headwright.report.style import save, svg
from headwright.study import figures as generic
from headwright.study.asked import Study
from headwright.study.axis import Axis
from headwright.study.section import Section
from headwright.study.table import Table

PAGE = "index.html"
FIGURES = "figures"
_MOST_ROWS = 12
_MOST_MESSAGES = 8
_MOST_COLUMNS = 24
_MOST_VALUES = 8

Drawn = dict[str, Any]


def write_page(study: Study, table: Table, out: Path, tables: list[Path]) -> dict[Path, Any]:
    """The page and its figures; the figures by their paths as SVG. `tables` are the files that hold
    all rows."""
    drawn: Drawn = {}
    sections: list[Section] = []
    if study.built_in and table.count > len(table.errors):
        rows = table.finished()
        drawn = study.built_in.figures(rows)
        sections = study.built_in.sections(rows)
    elif not study.built_in:
        numbers = generic.drawable(table)
        drawn = generic.figures(table, study.grid.varying, numbers)
        sections = _generic_sections(study, drawn, numbers)
    saved = {save(drawing, out / FIGURES / name)[0]: drawing for name, drawing in drawn.items()}
    said = "".join(_section(section, drawn) for section in sections)
    write_text(out / PAGE, _document(study, table, said, [path.name for path in tables]))
    return saved


def _document(study: Study, table: Table, said: str, files: list[str]) -> str:
    title = study.built_in.title if study.built_in else study.name
    asks = study.built_in.asks if study.built_in else study.function.summary
    lead = f"<p>{typeset(asks)}</p>" if study.built_in else f"<p>{escape(asks)}</p>"
    body = [
        _CSS,
        f"<h1>{escape(title)}</h1>{lead if asks else ''}",
        _asked(study, table),
        said,
        _failures(table),
        _rows_section(table, files),
    ]
    return page(title, "".join(body), description=asks or f"A study of {study.name}")


# --------------------------------------------------------------------------------- what was asked


def _asked(study: Study, table: Table) -> str:
    whole = study.grid.count
    finished = table.count - len(table.errors)
    part = f" of the {whole:,} of the grid" if table.count < whole else ""
    failed = f', <span class="no">{len(table.errors):,} failed</span>' if table.errors else ""
    blocks = [_block(block) for block in study.grid.blocks]
    return (
        f"<section><h2>What was asked</h2><p><code>{escape(study.function.name)}</code> at "
        f"{table.count:,} points{part}: {finished:,} finished{failed}.</p>"
        f"{''.join(blocks)}</section>"
    )


def _block(block: Iterable[Axis]) -> str:
    lines = [f"<tr><th>{escape(axis.name)}</th><td>{_values(axis)}</td></tr>" for axis in block]
    return scrolling(f"<table>{''.join(lines)}</table>")


def _values(axis: Axis) -> str:
    if axis.count <= _MOST_VALUES:
        return ", ".join(_cell(value) for value in axis)
    first = ", ".join(_cell(value) for value in axis.first(3))
    last = _cell(axis.value(axis.count - 1))
    return f'{first}, …, {last} <span class="soft">({axis.count:,} values)</span>'


# ------------------------------------------------------------------------------------- what is said


def _generic_sections(study: Study, drawn: Drawn, numbers: list[str]) -> list[Section]:
    caption = "Dots: points of the grid."
    if len(study.grid.varying) > 1:
        caption += " Line: their median at each value, over all the other parameters."
    left_out = len(study.grid.varying) - generic.MOST_PARAMETERS
    if left_out > 0:
        caption += f" {left_out} more parameters vary and are not drawn."
    named = zip(numbers, drawn, strict=False)
    sections = [Section(name, figure=file, caption=caption) for name, file in named]
    if len(numbers) > len(drawn) > 0:
        rest = ", ".join(numbers[len(drawn) :][:_MOST_COLUMNS])
        sections.append(Section("Not drawn", text=f"In the table only: {rest}."))
    return sections


def _section(section: Section, drawn: Drawn) -> str:
    parts = [f"<h2>{_text(section.title)}</h2>"]
    if section.quote:
        parts.append(f"<blockquote>{_text(section.quote)}</blockquote>")
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.text.split("\n\n") if paragraph]
    if section.table:
        parts.append(_table(list(section.table[0]), section.table))
    if section.figure:
        parts.append(_figure(section, drawn[section.figure]))
    return f"<section>{''.join(parts)}</section>"


def _text(text: str) -> str:
    """A single dollar sign begins no formula."""
    return typeset(text) if text.count("$") % 2 == 0 else escape(text)


def _figure(section: Section, drawing: Any) -> str:
    files = [f"{FIGURES}/{section.figure}.{kind}" for kind in ("svg", "png")]
    links = " · ".join(f'<a href="{escape(file, quote=True)}">{file[-3:]}</a>' for file in files)
    title = section.caption or section.title
    caption = f"<figcaption>{_text(section.caption)} {links}</figcaption>"
    return f"<figure>{scrolling(svg(drawing, title=title))}{caption}</figure>"


# ------------------------------------------------------------------------------------ what there is


def _failures(table: Table) -> str:
    if not table.errors:
        return ""
    counts = Counter(table.errors.values())
    common = counts.most_common(_MOST_MESSAGES)
    lines = [f'<tr><td class="number">{n}×</td><td>{escape(why)}</td></tr>' for why, n in common]
    others = len(counts) - len(common)
    more = f"<p>and {others} other messages</p>" if others > 0 else ""
    rows = "".join(lines)
    how = "<p>The same command with <code>--retry</code> computes them again.</p>"
    return (
        f"<section><h2>Failed points</h2>{scrolling(f'<table>{rows}</table>')}{more}{how}</section>"
    )


def _rows_section(table: Table, files: list[str]) -> str:
    shown = min(table.count, _MOST_ROWS)
    head = f"The first {shown} of {table.count:,} rows" if table.count > shown else "All rows"
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in files)
    return f"<section><h2>{head}</h2>{first_rows(table)}<p>The whole table: {links}</p></section>"


def first_rows(table: Table) -> str:
    columns = list(table.columns)[:_MOST_COLUMNS]
    return _table(columns, islice(table.rows(), _MOST_ROWS))


def _table(columns: list[str], rows: Iterable[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    lines = []
    for row in rows:
        cells = "".join(f"<td>{_cell(row.get(name))}</td>" for name in columns)
        lines.append(f"<tr>{cells}</tr>")
    return scrolling(f'<table class="rows"><tr>{head}</tr>{"".join(lines)}</table>')


def _cell(value: Any) -> str:
    """Six digits are enough to look at; the file has them all."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


_CSS = """<style>
.rows td{white-space:nowrap}
@media(max-width:30rem){figure svg{max-width:none}}
blockquote{margin:.6rem 0;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--accent);
font-size:1.06rem}
</style>"""
