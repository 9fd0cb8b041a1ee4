"""The library of the extra `pdf`, imported in one place: the answer to a missing one is the install
line."""

from __future__ import annotations

import logging

from headwright.errors import MissingExtra

try:
    import pypdf
    from pypdf._codecs import adobe_glyphs
    from pypdf.generic import ContentStream
except ImportError as reason:
    raise MissingExtra(getattr(reason, "name", None) or "pypdf", "pdf") from None

# It reports every repair of a damaged file on standard error; a reason in the report is enough.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

__all__ = ["ContentStream", "adobe_glyphs", "pypdf"]
