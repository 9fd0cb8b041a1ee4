"""Ctrl+C while Python cannot raise it: in the callback of a weak reference it would be printed and
forgotten."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, time, weakref
import rich_click as click
from headwright.cli.conventions import Reply, command, progress, progress_bar

class Thing:
    pass

def steps():
    for number in range(3):
        thing = Thing()
        watched = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
        del thing
        yield number

def iterated():
    return list(progress(steps(), "working"))

def reported():
    done = []
    with progress_bar("working") as step:
        for number in steps():
            done.append(number)
            step(len(done), 3)
    return done

def waited():
    # One step that takes long: nobody asks before it ends.
    list(zip(steps(), range(1)))
    for _ in range(600):
        time.sleep(0.1)

@command("lost")
def lost():
    done = WAY()
    return Reply({"done": done}, lambda console: console.print(f"done {done}"))

lost()
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C of Unix")
@pytest.mark.parametrize("way", ["iterated", "reported", "waited"])
def test_a_press_that_python_swallows_still_stops_the_work(way):
    program = PROGRAM.replace("WAY", way)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30
    )

    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == "headwright lost: stopped; no file was written\n"
