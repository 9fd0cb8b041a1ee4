"""The door: who may speak to the lab, in which form, and what a browser may do with the answers.

The server listens on 127.0.0.1, but any web page can make a browser send requests there. A foreign
page is kept out by its Host (DNS rebinding) and Origin headers and by the JSON content type, which
a form cannot send.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwright.lab import limits

_OWN_NAMES = {"127.0.0.1", "localhost", "::1"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """ASGI middleware: refuse strangers, then add the security headers to every answer."""

    def __init__(self, app: ASGIApp, *, framed: bool = False) -> None:
        self.app = app
        around = "http://127.0.0.1:* http://localhost:*" if framed else "'none'"
        policy = _HEADERS["Content-Security-Policy"] + around
        self.headers = {**_HEADERS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        refusal = _refusal(scope["method"], Headers(scope=scope))
        await (refusal or self.app)(scope, receive, send_guarded)


def _refusal(method: str, headers: Headers) -> JSONResponse | None:
    """Why this request is not answered; None if it may pass."""
    stranger = _stranger(headers)
    if stranger:
        return refused(403, stranger)

    if method not in ("GET", "HEAD", "POST"):
        return refused(405, f"wanted GET or POST; got {method[:20]!r}; try: POST with JSON")
    if method != "POST":
        return None

    kind = headers.get("content-type", "none").partition(";")[0].strip().lower()
    if kind != "application/json":
        error = f"wanted application/json; got {kind[:60]!r}; try: set the content type"
        return refused(415, error)
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > limits.BODY_BYTES:
        return refused(413, too_large(length[:20]))
    return None


def _stranger(headers: Headers) -> str:
    """What is wrong with where the request goes to or comes from; empty if nothing is."""
    host = headers.get("host", "")
    if _part(f"//{host}", "hostname").lower() not in _OWN_NAMES:
        return (
            f"wanted a request to 127.0.0.1; got one to {host[:80]!r}; "
            "try: open the address printed"
        )
    origin = headers.get("origin")
    if origin is not None and _part(origin, "netloc") != host:
        return (
            f"wanted a request from the lab's own page; got {origin[:80]!r}; try: reload the page"
        )
    return ""


def too_large(got: str) -> str:
    return f"wanted at most {limits.BODY_BYTES:,} bytes; got {got}; try: a smaller request"


def _part(address: str, name: str) -> str:
    """A part of an address, empty if there is none or no sense in it."""
    try:
        return getattr(urlsplit(address), name) or ""
    except ValueError:
        return ""


def refused(status: int, error: str) -> JSONResponse:
    """A refusal in words."""
    return JSONResponse({"error": error}, status_code=status)
