"""The web application: static files, documents made of data, and the engine behind `/api/`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import mimetypes
from collections.abc import AsyncIterator
from typing import Any

from headwright.errors import MissingExtra

try:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
except ImportError:
    raise MissingExtra("starlette", "lab") from None

from headwright.lab import content, limits
from headwright.lab.engines.pool import EnginePool
from headwright.lab.guard import Guard, refused, too_large
from headwright.lab.stations import fragment


def build(*, engines: int = 2, seconds: float = limits.SECONDS, framed: bool = False) -> Starlette:
    """The application; its `engines`, the processes that compute, start with it and end with it.
    `framed` lets pages of this machine (a notebook) show it in a frame."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        pool = EnginePool(engines, seconds=seconds)
        app.state.engines = pool
        # The first station's formulas are typeset before the first visitor asks for them.
        await asyncio.gather(pool.start(), asyncio.to_thread(fragment, 1))
        try:
            yield
        finally:
            await pool.stop()

    calls = Route("/api/{name}", _engine, methods=["POST"])
    made = content.documents(engine=True)
    documents = [Route(f"/{path}", _document(path, make)) for path, make in made.items()]
    files = Mount("/", StaticFiles(directory=str(content.STATIC), html=True))
    return Starlette(
        routes=[calls, *documents, files],
        middleware=[Middleware(Guard, framed=framed)],
        lifespan=lifespan,
    )


def _document(path: str, make: Any) -> Any:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"

    async def respond(_: Request) -> Response:
        return Response(await asyncio.to_thread(make), media_type=kind)

    return respond


async def _engine(request: Request) -> Response:
    try:
        text = await asyncio.wait_for(_read(request), limits.BODY_SECONDS)
    except TimeoutError:
        return refused(408, f"the request timed out after {limits.BODY_SECONDS:g} s; retry")
    except ClientDisconnect:
        return Response(status_code=400)
    if text is None:
        return refused(413, too_large("more"))

    try:
        body = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as reason:
        return refused(400, f"wanted JSON; got text that is not ({reason}); try: JSON.stringify")

    call = request.app.state.engines.call(request.path_params["name"], body)
    return await _answered(request, asyncio.ensure_future(call))


async def _answered(request: Request, call: asyncio.Future[tuple[int, str]]) -> Response:
    """The engine's answer, as long as the visitor waits for it."""
    left = asyncio.ensure_future(_left(request))
    await asyncio.wait({call, left}, return_when=asyncio.FIRST_COMPLETED)
    if not call.done():
        # A page that drags on asks anew; a long answer nobody waits for must not keep an engine
        # from it.
        await asyncio.wait({call}, timeout=limits.GRACE)
    left.cancel()

    if not call.done():
        call.cancel()
        await asyncio.wait({call})
        return Response(status_code=408)
    status, answer = call.result()
    return Response(answer, status, media_type="application/json")


async def _left(request: Request) -> None:
    """Returns when the visitor has closed the connection (or has been answered)."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _read(request: Request) -> bytes | None:
    """The body, or None as soon as it grows beyond the limit (a stream need not say how long it
    is)."""
    parts = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limits.BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
