"""Files and data inside a page that needs no other file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def static(name: str) -> str:
    """A script or style sheet of the page."""
    return files("headwright.trained.page").joinpath("static", name).read_text("utf-8")


def embedded(data: Any, name: str) -> str:
    """JSON for the page's scripts. No text in it can end the element, whatever a token or a name
    says."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
