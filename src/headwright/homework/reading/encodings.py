"""From bytes to text, in whatever encoding they come; formulas are ASCII in all of them."""

from __future__ import annotations

import re

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

# Candidates where it is not Unicode, each with the letters it is for. Hangul first: its bytes are
# Chinese characters, too. Cyrillic words have no Latin letters in them; the accents of the West
# stand among Latin letters.
_LETTERS = {
    "cp949": re.compile("[\uac00-\ud7a3]"),
    "gb18030": re.compile("[\u4e00-\u9fa5，。：；（）、]"),
    "cp1251": re.compile("(?<![A-Za-z])[а-яё](?![A-Za-z])"),
    "cp1252": re.compile(
        "[äöüßéèêàçñáíóúãõâôÄÖÜÉ–’“”]|(?<=[A-Za-z])[À-ÖØ-öø-ÿ]|[À-ÖØ-öø-ÿ](?=[A-Za-z])"
    ),
}
# Where a letter is two bytes: both of them are above ASCII but for rare signs.
_TWO_BYTES = ("cp949", "gb18030")
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SAMPLE = 200_000  # bytes that tell the encoding
_SHORT_SAMPLE = 4000  # bytes that tell UTF-16 by its zeros


def decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text; a guess is noted."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        pass

    sample = data[:_SHORT_SAMPLE]
    if sample.count(0) > len(sample) // 4:
        zeros_second = sample[1::2].count(0) > sample[::2].count(0)
        encoding = "utf-16-le" if zeros_second else "utf-16-be"
        return data.decode(encoding, "replace"), (f"read as {encoding}",)

    sample = data[:_SAMPLE]
    encoding = max(_LETTERS, key=lambda candidate: _plausible(sample, candidate))
    return data.decode(encoding, "replace"), (f"not UTF-8; read as {encoding}",)


def _plausible(data: bytes, encoding: str) -> float:
    """How much of what is not ASCII looks like the letters that this encoding is for."""
    text = data.decode(encoding, "replace")
    foreign = sum(1 for c in text if ord(c) > 127) or 1
    likely = len(_LETTERS[encoding].findall(text))
    broken = text.count("\ufffd")
    if encoding in _TWO_BYTES:
        broken += len(_ALONE.findall(data))
    return (likely - 3 * broken) / foreign
