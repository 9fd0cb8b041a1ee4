"""A long fuzz of `headwright check`: random and damaged documents, until the time is up.

    python benchmarks/fuzz_check.py --minutes 10 --seed 1

Every document must give a report with valid statuses and spans inside the text, within the time one document may take.
What breaks that is printed and written to fuzz-failure-N.txt; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from hypothesis import strategies as st

from headwright.homework import judge_document
from headwright.homework.formats import read_text
from headwright.homework.limits import SECONDS, LimitReached, time_limit

STATUSES = {"correct", "incomplete", "wrong", "missing", "unread"}

WORDS = (
    "q", "k_a", "k_b", "k_j^T q", "k_i^T q", r"\mu_a", r"\mu_b", "v_a", "v_j", "c", r"\alpha_i", r"\beta",
    "M", "A", "A^T", "B B^T", "=", r"\approx", r"\gg", r"\ll", ">", r"\to", r"\infty", "+", "-", r"\cdot",
    r"\frac{1}{2}", r"\frac", "(", ")", "{", "}", "[", "]", r"\exp(", r"\sum_{i=1}^n", r"\sum", "_", "^",
    "'", ",", ";", "0", "1", "2", "1/2", "9^9^9", "1e400", "0/0", r"\sqrt{-1}", "n", "d", "$", "$$", r"\(",
    r"\)", r"\[", r"\]", "\n", "\n\n", "(a)", "(b) ii.", "c)", "(d) i)", "1.", "- ", "# ", "## b) Query",
    "Answer:", "解：", "~~", r"\cancel{", r"\text{where }", r"\begin{cases}", r"\end{cases}", r"\\", "&",
    r"\quad", r"\begin{align}", r"\end{align}", r"\newcommand{\x}{\x\x}", r"\x", r"\item", "%", "`", "```",
    "β", "μₐ", "½", "≫", "kᵀq", "much larger than", "where", "for all", "i != j",
    r"\mathcal{N}(1, \frac{1}{2})", r"\gamma", r"\|k\|", r"\langle k_j, q \rangle", "q_1", "q_2",
    "Attention(PX)", "softmax", "\0", "\ue000", "\ud7ff",
)  # fmt: skip

_PIECES = st.one_of(st.sampled_from(WORDS), st.text(max_size=6))
DOCUMENTS = st.lists(_PIECES, max_size=60).map(" ".join)


def mutated(text: str, cuts: list[tuple[int, int]]) -> str:
    """The text with some stretches removed or doubled: what scanners, editors and haste do to answers."""
    for where, length in cuts:
        at = where % (len(text) + 1)
        piece = text[at : at + length]
        text = text[:at] + (piece + piece if where % 3 == 0 else "") + text[at + length :]
    return text


def faults_of(text: str, suffix: str = "") -> list[str]:
    """What is broken about the report on this document; empty when nothing is."""
    document = read_text(text, name="fuzz", suffix=suffix)
    if document.unread:
        return []
    try:
        with time_limit(4 * SECONDS):  # a loaded machine is not a fault; a loop without end is
            report = judge_document(document)
    except LimitReached as reason:
        return [str(reason)]
    found = []
    for verdict in (v for one in report.verdicts for v in (one, *one.steps)):
        span = verdict.span
        if verdict.status not in STATUSES:
            found.append(f"{verdict.question}: status {verdict.status!r}")
        if span and not 0 <= span.start <= span.end <= len(document.text):
            found.append(f"{verdict.question}: span {span.start}:{span.end} of {len(document.text)} characters")
        if "nan" in verdict.reason.split():
            found.append(f"{verdict.question}: {verdict.reason}")
        if verdict.status in ("wrong", "incomplete") and not verdict.reason:
            found.append(f"{verdict.question}: no reason given")
    return found


def _invented(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.5:
        return " ".join(rng.choices(WORDS, k=rng.randint(1, 120))), rng.choice(["", ".md", ".tex", ".txt", ".typ"])
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from homework.corpus.documents import document

    written = document(rng.randrange(10**6))
    cuts = [(rng.randrange(10**5), rng.randrange(60)) for _ in range(rng.randint(0, 8))]
    return mutated(written.text, cuts), written.suffix


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    rng, until, count, broken = random.Random(given.seed), time.monotonic() + 60 * given.minutes, 0, 0
    slowest = 0.0
    while time.monotonic() < until:
        text, suffix = _invented(rng)
        started = time.monotonic()
        try:
            found = faults_of(text, suffix)
        except Exception as reason:
            found = [f"{type(reason).__name__}: {reason}"]
        slowest = max(slowest, time.monotonic() - started)
        count += 1
        if found:
            broken += 1
            Path(f"fuzz-failure-{broken}.txt").write_text(text, encoding="utf-8", errors="replace")
            print(f"document {count} ({suffix or 'text'}): {found[0]}")
    print(f"{count} documents, {broken} broken, slowest {slowest:.2f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
