"""The two libraries of the extra `models`, imported in one place: the answer to a missing one is
the install line."""

from __future__ import annotations

import os

from headwright.errors import MissingExtra

# Before the first import of transformers, which reads it once: an audit downloads nothing.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

try:
    import torch
    import transformers
except ImportError as reason:
    raise MissingExtra(getattr(reason, "name", None) or "transformers", "models") from None

__all__ = ["torch", "transformers"]
