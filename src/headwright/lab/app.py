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
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles
except ImportError:
    raise MissingExtra("starlette", "lab") from None

from headwright.lab import content, limits
from headwright.lab.engines.pool import Workers
from headwright.lab.guard import Guard, too_large


def build(*, workers: int = 2, seconds: float = limits.SECONDS, framed: bool = False) -> Starlette:
    """The application; `workers` engine processes start with it and end with it. `framed` lets
    pages of this machine (a notebook) show it in a frame."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.workers = Workers(workers, seconds=seconds)
        # The first station's formulas are typeset before the first visitor asks for them.
        await asyncio.gather(app.state.workers.start(), asyncio.to_thread(content.fragment, 1))
        try:
            yield
        finally:
            await app.state.workers.stop()

    documents = [
        Route(f"/{path}", _document(path, make))
        for path, make in content.documents(engine=True).items()
    ]
    return Starlette(
        routes=[
            Route("/api/{name}", _engine, methods=["POST"]),
            *documents,
            Mount("/", StaticFiles(directory=str(content.STATIC), html=True)),
        ],
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
        return JSONResponse(
            {"error": "wanted the whole request; got it too slowly; try: again"}, 408
        )
    except ClientDisconnect:
        return Response(status_code=400)
    if text is None:
        return JSONResponse({"error": too_large("more")}, 413)
    try:
        body = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as reason:
        return JSONResponse(
            {"error": f"wanted JSON; got text that is not ({reason}); try: JSON.stringify"}, 400
        )
    call = asyncio.ensure_future(request.app.state.workers.call(request.path_params["name"], body))
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
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limits.BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
