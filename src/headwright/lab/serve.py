"""Run the lab on this machine's own address until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator

from headwright.errors import HeadwrightError, InputError, MissingExtra

try:
    import uvicorn
except ImportError:
    raise MissingExtra("uvicorn", "lab") from None

from headwright.lab import limits
from headwright.lab.address import HOST, PORT
from headwright.lab.address import address as address_of
from headwright.lab.app import build
from headwright.lab.connections import Connection

_GLANCE = 0.01  # seconds between looks at whether the server has started
# Ports after the usual one that are tried when another lab, or something else, has it
_NEIGHBOURS = range(PORT + 1, PORT + 20)


def _listen(port: int | None) -> socket.socket:
    """Listen on a port; None takes the usual one, or the next that is free."""
    if port is not None:
        return _bind(port)
    for usual in (PORT, *_NEIGHBOURS):
        with contextlib.suppress(InputError):
            return _bind(usual)
    return _bind(0)


def _bind(port: int) -> socket.socket:
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every answer waits 40 ms for the last
    # packet.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except (OSError, OverflowError) as reason:
        listener.close()
        raise InputError(
            wanted=f"port {port} on {HOST}",
            got=str(reason),
            attempt="another --port, or 0 for any free one",
        ) from None
    return listener


def _server(*, framed: bool = False) -> uvicorn.Server:
    # The default access log would bury the one line people need: the address.
    config = uvicorn.Config(
        build(framed=framed),
        http=Connection,
        limit_concurrency=2 * limits.CONNECTIONS,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(
    *,
    port: int | None = None,
    place: str = "",
    browser: bool = True,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until Ctrl+C; `announce` is given the address, as soon as somebody answers there.
    `place` is the page and state to open (see `headwright.lab.address`)."""
    listener = _listen(port)
    address = address_of(listener.getsockname()[1]) + place

    async def run() -> None:
        server = _server()
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(_GLANCE)
        if server.started:
            announce(address)
            if browser:
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        await serving
        if not server.started:
            raise HeadwrightError(
                "wanted to start the lab's engine; got none; "
                "try: python -m headwright.lab.engines.process"
            )

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


@contextlib.contextmanager
def serving(*, port: int | None = 0, framed: bool = False) -> Iterator[str]:
    """The address of a lab that runs while the block does: for tests, benchmarks and notebooks
    (`framed`)."""
    listener = _listen(port)
    server = _server(framed=framed)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(_GLANCE)
    try:
        yield address_of(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
