"""Writes this page anew: python docs/gallery/attention_bugs.py

Every layer of tests/probes/gallery is examined, and the line of the table that finds its bug is
copied out. `tests/probes/test_gallery.py` holds the page to what is found today."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("attention-bugs.md")
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from tests.probes.gallery.table import BROKEN, UNDECIDED, Entry  # noqa: E402

import headwright as hw  # noqa: E402

# file of the gallery -> its heading, and what they have in common
GROUPS = {
    "paths": (
        "A layer that disagrees with itself",
        "Two ways of asking for the same thing give two answers, so something must be wrong.",
    ),
    "masks": (
        "What a token sees",
        "Judged against what the author says (`--expect causal`, `window=4`, ...).",
    ),
    "weights": (
        "Weights that are not a distribution",
        "With unit vectors as values, any function of (q, k, v) shows its weights.",
    ),
    "padding": (
        "Padding and batch",
        "A text must come out the same alone, padded on either side, and beside other texts.",
    ),
    "heads": (
        "Heads",
        "Which query head reads which key head, and what splitting and merging do to tokens.",
    ),
    "positions": (
        "Positions",
        "The same text moved along must come out the same where positions are relative.",
    ),
    "caches": (
        "Caches",
        "Token by token or in chunks, a cache must give what one pass over the text gives.",
    ),
    "history": (
        "History, chance, and overwritten inputs",
        "What was asked before must not matter.",
    ),
    "numerics": (
        "Numbers",
        "Against a reference in double precision, at logits of all sizes.",
    ),
    "gradients": (
        "Gradients",
        "With a wrong gradient a model still trains, only worse. The output does not show it.",
    ),
    "libraries.torch_layers": (
        "PyTorch's own layers, used wrongly",
        "The layer is correct, but what is passed to it is not.",
    ),
    "libraries.numpy_functions": (
        "NumPy",
        "The same mistakes in textbook code.",
    ),
    "libraries.jax_functions": (
        "JAX",
        "The same mistakes under another compiler.",
    ),
}
_INTRODUCTION = """\
# A gallery of attention bugs

{count} broken attention layers, a dozen lines each, with the line of `headwright xray` that finds
each of them. {seen} re-create a bug that was reported in public; the project and the number of its
issue are given. The others are the mistakes that the properties are meant to catch. The code is in
`tests/probes/gallery/`, beside {right} correct layers, none of which may be called broken.

In a clone:

```python
import headwright as hw

hw.xray("tests.probes.gallery.masks:window_one_more", expect="window=4")
```

This page is made by `python docs/gallery/attention_bugs.py`.
"""
# Names at the beginning of a title, as their owners write them
_SPELLED = {"Numpy": "NumPy", "Jax": "JAX", "Alibi": "ALiBi"}
_UNDECIDED = """
## Not for a tool to decide

These layers are consistent. Only their author knows whether they do what was meant, so without
`--expect` nothing is called broken; the pattern that was found is named.
"""


def page(found: Callable[[Entry], str]) -> str:
    """The whole page; `found` gives the line of the table for a broken layer."""
    right = (ROOT / "tests/probes/gallery/expected.toml").read_text(encoding="utf-8")
    text = _INTRODUCTION.format(
        count=len(BROKEN),
        seen=sum(bool(entry.seen) for entry in BROKEN.values()),
        right=right.count("[[right]]"),
    )
    for file, (title, common) in GROUPS.items():
        entries = [one for one in BROKEN.values() if one.layer.partition(":")[0] == file]
        text += f"\n## {title}\n\n{common}\n\n"
        text += "\n".join(_shown(entry, found(entry)) for entry in entries)
    text += _UNDECIDED + "\n"
    for entry in UNDECIDED.values():
        text += f"- **{title_of(entry)}**{_where(entry)}: {_lower(entry.what)}\n"
    return text


def _shown(entry: Entry, line: str) -> str:
    meant = "" if entry.expect is None else f" Expected: `{entry.expect}`."
    return f"**{title_of(entry)}**{_where(entry)}. {entry.what}{meant}\n\n```text\n{line}\n```\n"


def _where(entry: Entry) -> str:
    return f" ({entry.seen})" if entry.seen else ""


def title_of(entry: Entry) -> str:
    """The layer's name in words: `RingWrapsWrongly` and `ring_wraps_wrongly` are alike."""
    name = entry.name.partition(":")[2]
    name, _, dtype = name.partition(" in ")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=A)(?=[A-Z])", " ", name).replace("_", " ")
    words = words[0].upper() + words[1:].lower()
    words = re.sub(r"^(Numpy|Jax|Alibi)\b", lambda found: _SPELLED[found[0]], words)
    return f"{words} in {dtype}" if dtype else words


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:] if not sentence[:2].isupper() else sentence


def line_of(finding: Any) -> str:
    """As the table has it."""
    return f"{finding.name}: {finding.status}: {finding.evidence}"


def without_numbers(text: str) -> str:
    """What must be the same on every machine: all but the digits."""
    return re.sub(r"-?\d[\d.,]*(e[+-]?\d+)?", "#", text)


def without_lines(text: str) -> str:
    """All but what was found."""
    return re.sub(r"(```text\n).*?\n(```)", r"\1\2", text, flags=re.S)


def _examined(entry: Entry) -> str:
    for name in entry.properties:
        finding = hw.xray(entry.made(), **entry.words, only=(name,))[name]
        if finding.status == "broken":
            break
    return line_of(finding)


def main() -> None:
    torch.set_num_threads(1)
    PAGE.write_text(page(_examined), encoding="utf-8")


if __name__ == "__main__":
    main()
