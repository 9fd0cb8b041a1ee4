"""The engine in a process of its own: one JSON line in, one JSON line out.

A thread cannot be stopped, a process can: that is what makes the time limit of a request real.
Rejected: multiprocessing, which re-imports the caller's script and pickles what came from a
stranger.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys

from headwright.lab import limits
from headwright.lab.engines.calls import answer


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limit outside Unix
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limits.MEMORY, limits.MEMORY))


def main() -> None:
    # Only answers may go to the pipe: whatever prints goes to the terminal instead.
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _limit_memory()

    pipe.write("ready\n")
    pipe.flush()
    for line in sys.stdin:
        name, body = json.loads(line)
        status, result = answer(name, body)
        pipe.write(f"{status} {json.dumps(result, allow_nan=False)}\n")
        pipe.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
