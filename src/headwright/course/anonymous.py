"""Reports without names: a student is a keyed hash, and the key stays with the teacher.

The same key gives the same pseudonyms in every run, so that marks of two exercises can be put side
by side; without the key nobody can go from a pseudonym to a name, or try names out.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headwright.course.people import Student
from headwright.errors import InputError
from headwright.homework.verdict import Report, restored
from headwright.result import plain

_KEY_BYTES = 32
_SHOWN = 10  # hexadecimal digits: two of a million students share them once in two trillion pairs
# Of a page: its tags, its styles and what stands in comments; and the titles in tags, which quote
_TAGS = re.compile(r"(<!--.*?-->|<style.*?</style>|<script.*?</script>|<[^>]*>)", re.DOTALL)
_TITLE = re.compile(r'(?:title|aria-label)="[^"]*"')
_OUR_WORDS = ("question", "status", "student", "document")
_SHORTEST = 4  # letters of a name that are taken out of texts; fewer are part of other words


def read_key(path: str | Path) -> bytes:
    """The key in a file; a new one is made, for this user alone, where there is none."""
    file = Path(path)
    try:
        if not file.exists():
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(secrets.token_hex(_KEY_BYTES) + "\n")
        key = bytes.fromhex(file.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise InputError(
            wanted="a key file of headwright", got=f"{file}: {error}", attempt="name a new file"
        ) from None
    if len(key) != _KEY_BYTES:
        raise InputError(
            wanted=f"a key of {_KEY_BYTES} bytes",
            got=f"{len(key)} in {file}",
            attempt="name a new file",
        )
    return key


def pseudonym(key: bytes, student: str) -> str:
    digest = hmac.new(key, student.encode("utf-8"), "sha256").hexdigest()
    return f"s-{digest[:_SHOWN]}"


def hidden_student(key: bytes, student: Student) -> Student:
    """The student under a pseudonym. The old names are kept for a rubric's overrides; nothing shows
    them."""
    return Student(pseudonym(key, student.id), names=(student.id, *student.names))


class Redaction:
    """Takes what names one student out of texts, and out of nothing else: Mark and Read are names,
    and words of our own, too."""

    def __init__(self, student: Student, instead: str) -> None:
        self._instead = instead
        words = [_whole(word) for word in _naming(student)]
        self._pattern = re.compile("|".join(words), re.IGNORECASE) if words else None

    def text(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(self._instead, text)

    def page(self, html: str) -> str:
        """What a reader of the page sees: words between tags, and the words of a title."""
        pieces = _TAGS.split(html)
        shown = pieces[0::2]
        tags = [_TITLE.sub(lambda title: self.text(title[0]), tag) for tag in pieces[1::2]]
        pieces[0::2] = [self.text(words) for words in shown]
        pieces[1::2] = tags
        return "".join(pieces)

    def report(self, report: Report) -> Report:
        return restored(self._record(plain(report)))

    def _record(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                key: entry if key in _OUR_WORDS else self._record(entry)
                for key, entry in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._record(entry) for entry in value]
        return value


def _whole(word: str) -> str:
    """Not within a longer word; digits may stand beside letters (lima2.md), not beside digits."""
    letter = r"[^\W\d_]"
    letter_or_digit = r"[^\W_]"
    before = letter_or_digit if word[0].isdigit() else letter
    behind = letter_or_digit if word[-1].isdigit() else letter
    return f"(?<!{before}){re.escape(word)}(?!{behind})"


def _naming(student: Student) -> Sequence[str]:
    """The longest first, so that a full name goes before its parts. A short id counts where it
    cannot be a part of a formula: u7, but not 12."""
    parts = [part for part in re.split(r"[\s,]+", student.name) if part]
    joined = ["".join(parts), "".join(reversed(parts))]
    ids = [student.id, *student.names]
    found = {word for word in (student.name, student.email, *ids, *parts, *joined) if word}
    long = {word for word in found if len(word) >= _SHORTEST}
    short = {word for word in ids if re.fullmatch(r"(?=.*\d)(?=.*[^\W\d_])\w{2,3}", word)}
    return sorted(long | short, key=len, reverse=True)
