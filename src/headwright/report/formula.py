"""LaTeX formulas as inline SVG (ziamath): typeset on any machine, no fonts or scripts to load.

Rejected: MathJax or KaTeX (megabytes, or requests that leave the page) and MathML alone (fonts differ).
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape


@lru_cache(maxsize=1024)
def formula(latex: str, *, size: float = 17.0) -> str:
    """One formula as an inline SVG that follows the text's colour and baseline; `latex` is its label."""
    import ziamath

    # Glyphs as plain paths: symbols would carry ids, and ids repeat when a page holds several formulas.
    ziamath.config.svg2 = False
    drawing = ziamath.Latex(latex, size=size, color="currentColor").svg()
    view = re.search(r'viewBox="\S+ (\S+) \S+ (\S+)"', drawing)
    top, height = (float(view[1]), float(view[2])) if view else (0.0, 0.0)
    # The baseline is y = 0; what hangs below it must hang below the line of text too.
    drop = top + height
    attributes = f'class="formula" role="img" aria-label="{escape(latex, quote=True)}"'
    return drawing.replace("<svg ", f'<svg {attributes} style="vertical-align:{-drop:.2f}px" ', 1)


def typeset(text: str) -> str:
    """Plain text with `$...$` formulas -> HTML with the formulas typeset and everything else escaped."""
    parts = re.split(r"\$([^$]+)\$", text)
    return "".join(formula(part) if i % 2 else escape(part) for i, part in enumerate(parts))
