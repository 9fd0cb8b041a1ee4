"""Jobs whose documents do, by name, what a document may never do to the others."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from headwright.homework import judging_process, one_document
from headwright.homework.reading.document import Document
from headwright.homework.showing import pages
from headwright.homework.verdict import Report, Verdict

KEPT: list[bytearray] = []


def judged(**point):
    one_document.judge_document = lambda document, bank: misbehave(document)
    pages.drawn = draw
    return judging_process.judged(**point)


def drawn(formulas):
    pages.drawn = draw
    return judging_process.drawn(formulas)


def draw(latex: str) -> str:
    while latex == "\\endless":
        pass
    return "<svg>"


def misbehave(document: Document) -> Report:
    name = document.name
    if name == "dies":
        os._exit(3)
    if name == "dies once" and not Path(document.text).exists():
        Path(document.text).touch()
        os._exit(3)
    if name == "loops":
        while True:
            pass
    if name == "stuck in C":  # hears no thread and no signal
        re.match(r"(a+)+$", "a" * 60 + "b")
    if name == "eats memory":
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))
    if name == "keeps memory":
        KEPT.append(bytearray(b"x") * 100_000_000)
    if name == "says who":
        return Report(name, (Verdict("b.q", "", "correct", str(os.getpid())),))
    if name == "cannot be drawn":
        return Report(name, (Verdict("b.q", "\\endless", "correct", "fine"),))
    if name == "waits":
        time.sleep(1.0)
    if name == "waits for ever":
        time.sleep(1e6)
    if name == "deep":
        return misbehave(document)
    if name == "fails":
        raise KeyError("a fault of ours")
    if name == "prints":
        sys.stdout.write("a library speaks\n")
        sys.stdout.flush()
    return Report(name, (Verdict("b.q", "", "correct", "fine"),))
