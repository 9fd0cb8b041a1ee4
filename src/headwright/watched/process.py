"""The parent's side: a process is started, asked, watched and ended."""

from __future__ import annotations

import json
import math
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import psutil

from headwright.errors import HeadwrightError

TICK = 0.05  # seconds between two looks at a busy process
# The same where nothing is limited, and only a standstill is looked for: a look costs 0.1 ms
SLOW_TICK = 1.0
# Seconds without any use of the processor: it waits for something that will not come
STANDSTILL = 60.0
# The child finds the modules that the parent finds, and none in the folder that it happens to be
# started in.
_PROGRAM = "import sys; sys.path[:] = {path!r}; from {module} import main; main(*{arguments!r})"
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Ended(HeadwrightError):
    """The process used more than it may and was ended; `str(error)` names the limit."""


class Died(HeadwrightError):
    """The process ended by itself, before it had answered."""


class Use(NamedTuple):
    """What a process has used so far."""

    seconds: float  # of processor time
    memory: int  # bytes that it holds now


@dataclass(frozen=True)
class Allowance:
    """What one request may use."""

    seconds: float  # of processor time
    memory: int  # bytes beyond what the process had when it was ready


class Watched:
    """`main` of a module, with these arguments, in a process of its own, which starts while the
    parent goes on. Its first line is its number, and says that it is ready; then it writes a line
    for every line."""

    def __init__(self, module: str, *arguments: str) -> None:
        program = _PROGRAM.format(path=sys.path, module=module, arguments=arguments)
        # Ctrl+C reaches the parent alone, and it ends us
        detached: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            detached = {
                "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            }
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A window program has no terminal
            stderr=None if sys.__stderr__ is not None else subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
            **detached,
        )
        self._usage = psutil.Process(self._process.pid)
        self._said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ready_memory: int | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def wait_until_ready(self) -> None:
        """Before the first request; `Died` or `Ended` where it never is."""
        if self._ready_memory is not None:
            return
        try:
            ready = self._next_line(Allowance(float("inf"), sys.maxsize), Use(0.0, 0))
            # Python in a virtual environment on Windows is a launcher; what works is its child.
            self._usage = psutil.Process(int(ready))
        except psutil.Error as reason:
            self.end()
            raise Died(str(reason)) from None
        except BaseException:
            self.end()
            raise
        self._ready_memory = self.use().memory

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def use(self) -> Use:
        """What it has used; nothing where it is gone."""
        try:
            times = self._usage.cpu_times()
            return Use(times.user + times.system, self._usage.memory_info().rss)
        except psutil.Error:
            return Use(0.0, 0)

    def holds_more_than(self, memory: int) -> bool:
        """Has it kept so much memory of earlier requests? The next one would be blamed for it."""
        return self.use().memory - (self._ready_memory or 0) > memory

    def ask(self, request: Any, allowance: Allowance) -> Any:
        """The answer to one request. After `Ended` or `Died`, or if the wait is interrupted, the
        process is gone."""
        try:
            self.wait_until_ready()
            before = Use(self.use().seconds, self._ready_memory or 0)
            self._send([allowance.seconds, request])
            return json.loads(self._next_line(allowance, before))
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End it now, whatever it does. Its listener sees the closed pipe and stops, too."""
        with suppress(psutil.Error):
            self._usage.kill()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()

    def _send(self, request: Any) -> None:
        assert self._process.stdin is not None
        line = json.dumps(request).encode("ascii") + b"\n"
        # It died while it was idle, or is being ended; waiting for the answer notices.
        with suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _listen(self) -> None:
        """Lines as they come. Not every system reads a pipe with a time limit; a queue has one."""
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):  # closed under our hands
            for line in self._process.stdout:
                self._said.put(line)
        self._said.put(b"")

    def _next_line(self, allowance: Allowance, before: Use) -> bytes:
        seen = before.seconds
        moved = time.monotonic()
        limited = math.isfinite(allowance.seconds) or allowance.memory < sys.maxsize
        tick = TICK if limited else SLOW_TICK
        while True:
            with suppress(queue.Empty):
                line = self._said.get(timeout=tick)
                if line.endswith(b"\n"):
                    return line
                raise Died(f"exit code {self._process.wait()}")
            use = self.use()
            if use.seconds > seen:
                seen = use.seconds
                moved = time.monotonic()
            if use.seconds - before.seconds > allowance.seconds:
                raise Ended(f"it took longer than {allowance.seconds:g} s of processor time")
            if use.memory - before.memory > allowance.memory:
                raise Ended(f"it took more than {allowance.memory / 1e9:g} GB of memory")
            if time.monotonic() - moved > STANDSTILL:
                raise Ended(f"it came to a standstill: nothing was computed for {STANDSTILL:g} s")
