"""The house style of every picture: one fixed colour per role, ink that follows the page, no
decoration.

The palette is Okabe and Ito's, told apart by colour-blind readers too. Text and axes are drawn in
one marked ink colour; `svg` turns it into `currentColor`, so that a figure inside a page is dark on
light and light on dark without being drawn twice.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwright.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # matplotlib is imported when something is drawn, not before

ROLES = {
    "query": "#d55e00",
    "key": "#0072b2",
    "value": "#009e73",
    "output": "#cc79a7",
    "noise": "#e69f00",
    "good": "#009e73",
    "bad": "#d55e00",
    "muted": "#8a8a8a",
}
# Curves that have no role: three that are readable on white and on black.
SERIES = ("#d55e00", "#56b4e9", "#009e73")
# Heads stand beside keys and values in one picture: no head but the first shares a colour with a
# role.
HEADS = ("#d55e00", "#56b4e9", "#882255", "#999933", "#332288", "#661100")

# An ink no role uses, so that the SVG can be told to follow the page's text colour instead.
_INK = "#1b1e23"

_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "regular",
    "axes.titlelocation": "left",
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.7,
    "grid.color": ROLES["muted"],
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "headwright",  # element ids, and so files, are the same in every run
}


# The ground of a saved picture, which is its first path
_ON_WHITE = 'style="fill: #ffffff"'
_TRANSPARENT = 'style="fill: none"'


@contextmanager
def figure(
    width: float = 6.4, height: float = 3.0, *, rows: int = 1, columns: int = 1
) -> Iterator[tuple[Figure, Any]]:
    """`with figure(6.4, 3) as (drawing, axes):` draws in house style; sizes in inches. The user's
    own matplotlib settings are left alone, which is why this is a context and not a call."""
    import matplotlib
    from matplotlib import figure as canvas

    with matplotlib.rc_context(_SETTINGS):  # pyright: ignore[reportArgumentType]
        # On white, so that a dark notebook shows it too; `svg` takes the ground away
        drawing = canvas.Figure(figsize=(width, height), facecolor="white")
        axes = drawing.subplots(rows, columns)
        for one in drawing.axes:
            one.patch.set_alpha(0.0)
        yield drawing, axes


def svg(drawing: Figure, *, title: str = "") -> str:
    """Inline SVG without prolog; its ink is the surrounding text's colour. `title` is read by
    screen readers."""
    return inline(_draw(drawing, "svg").decode(), title=title)


def inline(saved: str, *, title: str = "") -> str:
    """The same of a picture that was saved already: less its white ground."""
    text = saved.replace(_ON_WHITE, _TRANSPARENT, 1)
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    # Clip paths are named by content, so two figures may share one; prefixing keeps each figure's
    # own.
    mark = f"g{zlib.crc32(text.encode()):08x}-"
    text = re.sub(r'(id="|href="#|url\(#)', rf"\1{mark}", text)
    return _named(text, title) if title else text


def save(drawing: Figure, stem: str | Path) -> tuple[Path, Path]:
    """Write `stem.svg` and `stem.png` on white, for slides and papers."""
    stem = Path(stem)
    layout = drawing.get_layout_engine()
    try:
        vector = write_bytes(stem.with_suffix(".svg"), _draw(drawing, "svg"))
        drawing.set_layout_engine("none")  # laid out once: that takes half of the time of drawing
        bitmap = write_bytes(stem.with_suffix(".png"), _draw(drawing, "png"))
    finally:
        drawing.set_layout_engine(layout)
    return vector, bitmap


def _draw(drawing: Figure, kind: str) -> bytes:
    import matplotlib

    out = io.BytesIO()
    dateless = {"Date": None} if kind == "svg" else {}
    with matplotlib.rc_context(_SETTINGS):  # pyright: ignore[reportArgumentType]
        drawing.savefig(out, format=kind, dpi=160, metadata=dateless)
    if kind != "svg":
        return out.getvalue()
    # The library's description of itself (licence terms, its address) is no part of the picture.
    return re.sub(rb"<metadata>.*?</metadata>\s*", b"", out.getvalue(), flags=re.S)


def _named(text: str, title: str) -> str:
    safe = escape(title, quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{safe}" ', 1)
