"""A few engine processes, each answering one request at a time; a slow one is replaced."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from headwright.lab import limits

_LINE = 64 << 20  # the longest answer
_LONGEST_PAUSE = 30.0  # seconds between attempts to start an engine
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class EnginePool:
    """`await pool.call("moments", body)` gives an HTTP status and JSON text."""

    def __init__(self, count: int = 2, *, seconds: float = limits.SECONDS) -> None:
        self._count = count
        self._seconds = seconds
        self._idle: asyncio.Queue[asyncio.subprocess.Process] = asyncio.Queue()
        self._all: set[asyncio.subprocess.Process] = set()
        self._starting: set[asyncio.Future[None]] = set()
        self._stopped = False

    async def start(self) -> None:
        await asyncio.gather(*(self._add() for _ in range(self._count)))

    async def _add(self) -> None:
        """One more engine, ready before it is offered: imports do not count as a request's time."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "headwright.lab.engines.process",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE,
            env={**os.environ, **_ONE_THREAD},
        )
        self._all.add(process)
        assert process.stdout is not None
        try:
            said = await process.stdout.readline()
        except BaseException:
            await self._end(process)
            raise
        if said != b"ready\n":
            await self._end(process)
            raise RuntimeError("the engine did not start; its messages are above")
        self._idle.put_nowait(process)

    async def _replace(self) -> None:
        """Another engine for one that has ended; a start that fails is tried again, later and
        later."""
        pause = 1.0
        while True:
            try:
                await self._add()
                return
            except (RuntimeError, OSError):
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def call(self, name: str, body: Any) -> tuple[int, str]:
        try:
            process = await asyncio.wait_for(self._idle.get(), limits.PATIENCE)
        except TimeoutError:
            return 503, _error("all engines are busy; try again in a moment")
        try:
            return await self._ask(process, f"{json.dumps([name, body])}\n".encode())
        finally:
            self._give_back(process)

    def _give_back(self, process: asyncio.subprocess.Process) -> None:
        """Offer the engine again. One that has ended is replaced, by a start that is no part of any
        request: a visitor who leaves while it goes on must neither stop it nor leave it behind."""
        if process in self._all and process.returncode is None:
            self._idle.put_nowait(process)
        elif not self._stopped:
            self._all.discard(process)
            start = asyncio.ensure_future(self._replace())
            self._starting.add(start)
            start.add_done_callback(self._starting.discard)

    async def _ask(self, process: asyncio.subprocess.Process, line: bytes) -> tuple[int, str]:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            reply = await asyncio.wait_for(process.stdout.readline(), self._seconds)
        except (TimeoutError, ConnectionError, asyncio.CancelledError) as reason:
            # An answer that comes late would be read as the next one's: this process is of no more
            # use.
            await self._end(process)
            if isinstance(reason, asyncio.CancelledError):
                raise
            reply = b""
            if isinstance(reason, TimeoutError):
                return 504, _error(
                    f"the request timed out after {self._seconds:g} s; try a smaller problem"
                )
        if not reply.endswith(b"\n"):
            await self._end(process)
            return 500, _error(
                "the engine stopped on this request and was restarted; try a smaller problem"
            )
        status, _, text = reply.decode().partition(" ")
        return int(status), text

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        self._all.discard(process)
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def stop(self) -> None:
        self._stopped = True
        for start in list(self._starting):
            start.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for process in list(self._all):
            await self._end(process)


def _error(text: str) -> str:
    return json.dumps({"error": text})
