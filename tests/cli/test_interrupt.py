"""Ctrl+C while Python cannot raise it: in the callback of a weak reference it would be printed and
forgotten."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, weakref
import rich_click as click
from headwright.cli.conventions import Reply, command, progress

class Thing:
    pass

def steps():
    for number in range(3):
        thing = Thing()
        watched = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
        del thing
        yield number

@command("lost")
def lost():
    done = list(progress(steps(), "working"))
    return Reply({"done": done}, lambda console: console.print(f"done {done}"))

lost()
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C of Unix")
def test_a_press_that_python_swallows_still_stops_the_work():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == "headwright lost: stopped; no file was written\n"
