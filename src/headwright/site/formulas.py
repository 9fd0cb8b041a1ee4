"""Formulas of the pages, set as in the tour and the lab: drawings inside the page. What Sphinx
would do by itself loads a typesetter from another address."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from headwright.report.formula import formula

RENDERER = "drawn"
# Formulas on a line of their own are a little larger than the text.
_DISPLAYED = 19.0


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer(RENDERER, (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(page: Any, node: nodes.Element) -> None:
    page.body.append(formula(node.astext()))
    raise nodes.SkipNode


def _displayed(page: Any, node: nodes.Element) -> None:
    page.body.append(f'<p class="displayed">{formula(node.astext(), size=_DISPLAYED)}</p>')
    raise nodes.SkipNode
