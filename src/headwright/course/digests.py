"""What tells one thing from another: a short digest of its content, however its file is laid
out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from headwright.exercise.bank import Bank
from headwright.result import plain


def digest(content: Any) -> str:
    """Of anything that JSON can hold."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def bank_digest(bank: Bank) -> str:
    return digest(plain(bank))
