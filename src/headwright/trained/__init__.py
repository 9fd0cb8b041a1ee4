"""A trained model in, head cards out: `audit`. Needs the extra `models`; importing this needs nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["audit"]


def audit(model: Any, texts: Any, **options: Any) -> Any:
    """What every head of `model` does on `texts`: see `headwright.trained.auditing.audit`."""
    from headwright.trained.auditing import audit as run

    return run(model, texts, **options)
