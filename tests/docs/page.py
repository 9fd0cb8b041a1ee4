"""A page of the documentation as its reader meets it: fenced blocks, each with what stands right
above it.

Files are made where the text says so, in words that the reader sees too: "Save this as `NAME`:" or
"Add to `NAME`:". A block that is not run has a comment with the reason above it,
`<!-- not run: REASON -->`. A `text` block right below an example is what the example prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_OF_THE_PROJECT = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
_OF_THE_DOCUMENTATION = sorted((ROOT / "docs").rglob("*.md"))
PAGES = (
    *_OF_THE_PROJECT,
    *(str(path.relative_to(ROOT)) for path in _OF_THE_DOCUMENTATION),
)

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*\Z")
_SAVED = re.compile(r"(Save this as|Add to) `([^`]+)`[^`\n]*:\s*\Z")
# A comment that other tools read (the test command of README) does not part output from example.
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int
    not_run: str | None
    saved_as: str | None
    appended: bool
    follows: bool  # right below another block
    output: str | None  # what the page says it prints


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """All blocks in order; outputs belong to the block above them."""
    found: list[Block] = []
    text = text_of(page)
    end = 0
    for fence in _FENCE.finditer(text):
        found.append(_block(text, end, fence))
        end = fence.end()
    return tuple(_with_outputs(found))


def outside_fences(page: str) -> str:
    return _FENCE.sub("", text_of(page))


def _block(text: str, end: int, fence: re.Match[str]) -> Block:
    above = text[end : fence.start()].rstrip()
    not_run = _NOT_RUN.search(above)
    saved = _SAVED.search(above)
    indent = fence["indent"]
    return Block(
        kind=fence["kind"],
        text="".join(line.removeprefix(indent) for line in fence["text"].splitlines(True)),
        line=text.count("\n", 0, fence.start()) + 1,
        not_run=not_run[1] if not_run else None,
        saved_as=saved[2] if saved else None,
        appended=saved is not None and saved[1] == "Add to",
        follows=end > 0 and not _COMMENT.sub("", above).strip(),
        output=None,
    )


def _with_outputs(found: list[Block]) -> list[Block]:
    paired: list[Block] = []
    for block in found:
        is_output = block.kind == "text" and block.follows and not (block.not_run or block.saved_as)
        if is_output and paired:
            above = paired.pop()
            assert above.output is None, f"line {block.line}: a second output"
            block = Block(**{**vars(above), "output": block.text})
        paired.append(block)
    return paired
