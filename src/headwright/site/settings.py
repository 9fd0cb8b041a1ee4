"""What Sphinx is told. Nothing here may load anything from another address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headwright import __version__
from headwright.site.formulas import RENDERER

_THEME = Path(__file__).parent / "theme"

# The colours of the house for links, dark enough on white and light enough on black (WCAG AA)
_LIGHT = {"color-brand-primary": "#005a8f", "color-brand-content": "#005a8f"}
_DARK = {"color-brand-primary": "#7cc4ee", "color-brand-content": "#7cc4ee"}
_LIGHT |= {"color-api-name": "#005a8f", "color-api-pre-name": "#5a5c63"}
_DARK |= {"color-api-name": "#7cc4ee", "color-api-pre-name": "#a8a8b0"}

_SIDEBAR = [
    "sidebar/brand.html",
    "sidebar/search.html",
    "sidebar/scroll-start.html",
    "try_it.html",
    "sidebar/navigation.html",
    "sidebar/scroll-end.html",
]


def settings(*, with_tour: bool) -> dict[str, Any]:
    return {
        "project": "headwright",
        "version": __version__,
        "release": __version__,
        "html_title": "headwright",
        "extensions": ["myst_parser", "headwright.site.formulas", "headwright.site.linking"],
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
        "html_math_renderer": RENDERER,
        # Links may point to headings: as deep as our pages go.
        "myst_heading_anchors": 4,
        # Quotation marks and dashes of options stay what was typed.
        "smartquotes": False,
        # A block that names no language is what a terminal shows.
        "highlight_language": "none",
        # Output that is cut short ("...") is no longer JSON, and still to be coloured as such.
        "suppress_warnings": ["misc.highlighting_failure"],
        "html_theme": "furo",
        "html_theme_options": {"light_css_variables": _LIGHT, "dark_css_variables": _DARK},
        "html_static_path": [str(_THEME / "static")],
        "html_css_files": ["site.css"],
        "templates_path": [str(_THEME / "templates")],
        "html_sidebars": {"**": _SIDEBAR},
        "html_context": {"with_tour": with_tour},
        "html_copy_source": False,
        "html_show_copyright": False,
        "html_use_index": False,
        "html_domain_indices": False,
        # Summaries are fetched, which a browser does not do for pages opened from a folder.
        "html_show_search_summary": False,
    }
