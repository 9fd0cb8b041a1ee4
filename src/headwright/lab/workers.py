"""A few engine processes, each answering one request at a time; the slow one is ended and replaced."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from headwright.lab import limits

_LINE = 64 << 20  # the longest answer


class Workers:
    """`await workers.call("moments", body)` gives an HTTP status and JSON text."""

    def __init__(self, count: int = 2, *, seconds: float = limits.SECONDS) -> None:
        self._count, self._seconds = count, seconds
        self._idle: asyncio.Queue[asyncio.subprocess.Process | None] = asyncio.Queue()
        self._all: set[asyncio.subprocess.Process] = set()

    async def start(self) -> None:
        for process in await asyncio.gather(*(self._spawn() for _ in range(self._count))):
            self._idle.put_nowait(process)

    async def _spawn(self) -> asyncio.subprocess.Process:
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "headwright.lab.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE,
            env={**os.environ, **one_thread},
        )
        self._all.add(process)
        assert process.stdout is not None
        await process.stdout.readline()  # "ready": imports do not count as the request's time
        return process

    async def call(self, name: str, body: Any) -> tuple[int, str]:
        try:
            process = await asyncio.wait_for(self._idle.get(), limits.PATIENCE)
        except TimeoutError:
            return 503, _error("wanted a free engine; got all of them busy; try: again in a moment")
        try:
            if process is None or process.returncode is not None:
                process = await self._spawn()
            return await self._ask(process, f"{json.dumps([name, body])}\n".encode())
        finally:
            alive = process is not None and process.returncode is None
            self._idle.put_nowait(process if alive else None)

    async def _ask(self, process: asyncio.subprocess.Process, line: bytes) -> tuple[int, str]:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            reply = await asyncio.wait_for(process.stdout.readline(), self._seconds)
        except (TimeoutError, ConnectionError, asyncio.CancelledError) as reason:
            # An answer that comes late would be read as the next one's: this process is of no more use.
            await self._end(process)
            if isinstance(reason, asyncio.CancelledError):
                raise
            reply = b""
            if isinstance(reason, TimeoutError):
                return 504, _error(f"wanted an answer within {self._seconds:g} s; got none; try: a smaller problem")
        if not reply.endswith(b"\n"):
            await self._end(process)
            return 500, _error("the engine stopped on this request and was started again; try: a smaller problem")
        status, _, text = reply.decode().partition(" ")
        return int(status), text

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        self._all.discard(process)
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def stop(self) -> None:
        for process in list(self._all):
            await self._end(process)


def _error(text: str) -> str:
    return json.dumps({"error": text})
