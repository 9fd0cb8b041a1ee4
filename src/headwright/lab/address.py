"""Where the lab is found, and what a link to it means.

A link holds a whole state of a page (its part after `#`). It may name another machine, an exported
copy or an old port: only the page and the state are taken from it.
"""

from __future__ import annotations

from typing import NoReturn
from urllib.parse import unquote, urlsplit

from headwright.errors import InputError
from headwright.lab.presets import presets

HOST = "127.0.0.1"
# Always the same, so that a link still works tomorrow. Nothing registered uses it.
PORT = 8642
_PAGES = ("index.html", "check.html", "cards.html")
_EXAMPLE = "headwright lab 'preset=pair&q=a+b&beta=6'"


def address(port: int, state: str = "") -> str:
    """The address of the plane, or of a state of it."""
    return f"http://{HOST}:{port}/" + (f"#{state}" if state else "")


def place(link: str) -> str:
    """What a link adds to the address of a lab: `check.html`, `#preset=plane&q=1,0`. It may be a
    whole address, as copied from a browser, or the state alone, with or without its `#`."""
    try:
        parts = urlsplit(link.strip())
    except ValueError:  # a broken host
        _refuse(link)
    page = parts.path.rpartition("/")[2]
    if page in _PAGES:
        state = parts.fragment or parts.query
    elif "=" in page:
        page, state = "", page  # the state alone
    else:
        page, state = "", parts.fragment or parts.query
    if not page and not state and not parts.netloc:
        _refuse(link)
    if state:
        _check(state)
    return ("" if page == "index.html" else page) + (f"#{state}" if state else "")


def _check(state: str) -> None:
    """The page itself says what is wrong with a number; here only what is no state at all."""
    fields = [field.partition("=") for field in state.split("&")]
    if any(not name or not equals for name, equals, _ in fields):
        _refuse(state)

    given = {name: text for name, _, text in fields}
    preset = unquote(given.get("preset", "plane"))
    if preset not in presets():
        raise InputError(
            wanted=f"a setting among {', '.join(presets())}",
            got=f"preset={preset[:40]}",
            attempt=_EXAMPLE,
        )


def _refuse(link: str) -> NoReturn:
    raise InputError(
        wanted="a link to the lab, or the part of it after #",
        got=repr(link[:60]),
        attempt=f"{_EXAMPLE}, in quotes because of the &",
    )
