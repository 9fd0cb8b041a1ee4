"""Run the lab on this machine's own address until it is stopped."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator

from headwright.errors import InputError, MissingExtra

try:
    import uvicorn
except ImportError:
    raise MissingExtra("uvicorn", "lab") from None

from headwright.lab.app import build

ADDRESS = "127.0.0.1"


def _listen(port: int) -> socket.socket:
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every answer waits 40 ms for the last packet.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except (OSError, OverflowError) as reason:
        listener.close()
        raise InputError(
            wanted=f"port {port} on {ADDRESS}", got=str(reason), attempt="another --port, or 0 for any free one"
        ) from None
    return listener


def _server(*, framed: bool = False) -> uvicorn.Server:
    # The default access log would bury the one line people need: the address.
    config = uvicorn.Config(
        build(framed=framed),
        log_level="warning",
        access_log=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(*, port: int = 0, browser: bool = True, announce: Callable[[str], None] = lambda _: None) -> None:
    """Serve until Ctrl+C; `announce` is given the address."""
    listener = _listen(port)
    address = f"http://{ADDRESS}:{listener.getsockname()[1]}/"
    announce(address)
    if browser:
        threading.Timer(0.8, webbrowser.open, [address]).start()
    with contextlib.suppress(KeyboardInterrupt):
        _server().run(sockets=[listener])


@contextlib.contextmanager
def serving(*, port: int = 0, framed: bool = False) -> Iterator[str]:
    """The address of a lab that runs while the block does: for tests, benchmarks and notebooks (`framed`)."""
    listener, server = _listen(port), _server(framed=framed)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://{ADDRESS}:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
