"""The child's side: requests are heard and answered, until the parent is gone."""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def answer_lines(answer: Callable[[Any], Any]) -> None:
    """Say that it is ready, then answer every line of the parent, until the parent is gone."""
    # Only answers may go to the pipe: whatever a library prints goes to the terminal instead.
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(requests,), daemon=True).start()
    pipe.write(b"%d\n" % os.getpid())
    pipe.flush()
    while True:
        seconds, request = json.loads(requests.get())
        _end_without_parent(seconds)
        pipe.write(json.dumps(answer(request)).encode("ascii") + b"\n")
        pipe.flush()


def _hear(requests: queue.SimpleQueue[bytes]) -> None:
    """Requests as they come; the end of the pipe is the end of the parent, and so of this process
    in mid-request."""
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def _end_without_parent(seconds: float) -> None:
    """A long call into C lets no other thread hear that the parent is gone. Where the system can
    end a process by its processor time, it does so, well after the parent would have."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = time.process_time()
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = hard if math.isinf(seconds) else int(used + 4 * seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
