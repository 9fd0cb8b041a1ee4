"""Text that was written for a terminal or for `help()`, as Markdown."""

from __future__ import annotations

import inspect
import re

_CODE = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"([\\*_<>\[\]|#$~])")
# What tells readers of the source in which order to read it; readers of the site have a menu.
_FOR_THE_SOURCE = "Reading order"


def plain(text: str) -> str:
    """Words of a help text: nothing but its `code` may become markup."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def docstring(thing: object) -> str:
    """The docstring of `thing`, its examples as blocks of code."""
    blocks = re.split(r"\n{2,}", inspect.getdoc(thing) or "")
    wanted = [block for block in blocks if not block.startswith(_FOR_THE_SOURCE)]
    return "\n\n".join(_block(block) for block in wanted)


def _block(block: str) -> str:
    return f"```pycon\n{block}\n```" if block.startswith(">>>") else block
