"""What tells one thing from another: a short digest of its content, however its file is laid
out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from headwright.exercise.bank import Bank
from headwright.result import plain

_ASKED = ("id", "asked", "right", "test", "parameters")


def digest(content: Any) -> str:
    """Of anything that JSON can hold."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def bank_digest(bank: Bank) -> str:
    """Of what is asked and how it is judged; where answers are looked for may improve with the
    program."""
    questions = [{name: plain(getattr(one, name)) for name in _ASKED} for one in bank]
    return digest([bank.title, bank.setting, dict(bank.letters), questions])
