"""Names in the text become links: `hw.moments` to its entry of the reference, `headwright design`
to its command. So the pages stay plain Markdown, without addresses that a clone does not have."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from headwright.site.commands import FOLDER as COMMANDS
from headwright.site.python_names import FOLDER as PYTHON

_NAME = re.compile(r"(?:hw|headwright)(?:\.\w+)+")
_COMMAND = re.compile(r"headwright ([a-z]+)\b")
# Inside these a second link would be wrong or in the way.
_NOT_INSIDE = (nodes.reference, nodes.title)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    for code in list(doctree.findall(nodes.literal)):
        if any(isinstance(above, _NOT_INSIDE) for above in _ancestors(code)):
            continue
        goal = _goal(app, code.astext())
        if goal is None or goal[0] == page:
            continue
        where, anchor = goal
        address = app.builder.get_relative_uri(page, where) + anchor
        link = nodes.reference("", "", refuri=address, internal=True)
        code.replace_self(link)
        link += code


def _ancestors(node: nodes.Node) -> list[nodes.Node]:
    above = []
    while node.parent is not None:
        node = node.parent
        above.append(node)
    return above


def _goal(app: Sphinx, text: str) -> tuple[str, str] | None:
    """The page and anchor that a piece of code is about."""
    command = _COMMAND.match(text)
    if command:
        page = str(COMMANDS / command[1])
        return (page, "") if page in app.env.found_docs else None

    written = _NAME.match(text)
    if written is None:
        return None
    name = written[0]
    return _entry(app, name) or _entry(app, name.replace("headwright.", "hw.", 1))


def _entry(app: Sphinx, name: str) -> tuple[str, str] | None:
    """The place of a name in the reference, or of the module that it belongs to."""
    known = app.env.domains["py"].data["objects"]
    if name in known:
        return known[name].docname, f"#{known[name].node_id}"
    while name:
        page = str(PYTHON / name)
        if page in app.env.found_docs:
            return page, ""
        name = name.rpartition(".")[0]
    return None
