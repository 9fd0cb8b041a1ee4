"""Functions for the crew's tests, as a user might write them."""

import math
import os
import time
from pathlib import Path


def square(x):
    return {"y": x * x}


def counted(x, log):
    with Path(log).open("a") as out:
        out.write(f"{x}\n")
    return x


def special(x):
    return {
        "nan": math.nan,
        "inf": -math.inf,
        "zero": -0.0,
        "tiny": 5e-324,
        "text": "ü\ud800",
        "x": x,
    }


def hostile(how):
    if how == "print":
        print("not an answer", flush=True)  # noqa: T201
    if how == "exit":
        raise SystemExit("bye")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "crash":
        os._exit(7)
    if how == "spin":
        while True:
            pass
    values = {"object": object(), "names": {1: 2}, "long": "x" * 3_000_000, "digits": 10**5000}
    return values.get(how, how)


def slow_first(x):
    time.sleep(0.3 if x == 0 else 0.0)
    return x


def killed_once(x, marker):
    """The first process that comes here dies, as if somebody had ended it."""
    if x == 5 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), 9)
    return x
