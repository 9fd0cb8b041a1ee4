"""HTTP connections, of which only so many may keep the server waiting.

A connection that never finishes its request costs its sender nothing and the server a file
descriptor, of which some systems lend 256. When there are too many, the one that has kept it
waiting longest makes room for the newest.
"""

from __future__ import annotations

from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from headwright.lab import limits

# States of a client that has a request, or the rest of one, to send
_WAITED_FOR = (h11.IDLE, h11.SEND_BODY)


class Connection(H11Protocol):
    opened: float  # on the loop's clock

    def connection_made(self, transport: Any) -> None:
        H11Protocol.connection_made(self, transport)
        self.opened = self.loop.time()
        silent = [one for one in self.connections if isinstance(one, Connection) and one.silent()]
        if len(silent) > limits.CONNECTIONS:
            min(silent, key=lambda one: one.opened).transport.close()

    def silent(self) -> bool:
        return self.conn.their_state in _WAITED_FOR and not self.transport.is_closing()
