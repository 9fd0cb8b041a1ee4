"""A search for documents that break `headwright check`: noise, damage, strange formulas, notebooks,
bytes and names.

Every document must get a report: known statuses, reasons in words, spans inside its text, no fault
of the checker itself, within the time and memory of one document; and every output must be writable
with it. Where a closed form says what the verdict has to be, it must be that one.
"""

from __future__ import annotations

import json
import math
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.telling import as_they_come
from tests.homework.corpus.documents import document

from headwright.homework.batch import JudgedDocument, judge_many
from headwright.homework.limits import OUR_FAULT
from headwright.homework.reading.sources import Source, printable
from headwright.homework.showing import exports
from headwright.homework.verdict import Verdict
from headwright.result import plain

_DOCUMENTS = 1_000
_QUICK = 40
_SUFFIXES = (".md", ".tex", ".txt", ".typ", ".ipynb")
_LOST = (
    OUR_FAULT,
    "ended the reader",
    "it took longer than",
    "it took more than",
    "it came to a standstill",
)

WORDS = (
    "q", "k_a", "k_b", "k_j^T q", "k_i^T q", r"\mu_a", r"\mu_b", "v_a", "v_j", "c", r"\alpha_i",
    r"\beta", "M", "A", "A^T", "B B^T", "=", r"\approx", r"\gg", r"\ll", ">", r"\to", r"\infty",
    "+", "-", r"\cdot", r"\frac{1}{2}", r"\frac", "(", ")", "{", "}", "[", "]", r"\exp(",
    r"\sum_{i=1}^n", r"\sum", "_", "^", "'", ",", ";", "0", "1", "2", "1/2", "9^9^9", "1e400",
    "0/0", r"\sqrt{-1}", "n", "d", "$", "$$", r"\(", r"\)", r"\[", r"\]", "\n", "\n\n", "(a)",
    "(b) ii.", "c)", "(d) i)", "1.", "- ", "# ", "## b) Query", "Answer:", "解：", "~~",
    r"\cancel{", r"\text{where }", r"\begin{cases}", r"\end{cases}", r"\\", "&", r"\quad",
    r"\begin{align}", r"\end{align}", r"\newcommand{\x}{\x\x}", r"\x", r"\item", "%", "`", "```",
    "β", "μₐ", "½", "≫", "kᵀq", "much larger than", "where", "for all", "i != j",
    r"\mathcal{N}(1, \frac{1}{2})", r"\gamma", r"\|k\|", r"\langle k_j, q \rangle", "q_1", "q_2",
    "Attention(PX)", "softmax", "\0", "\ue000", "\ud7ff", "\ud800", "\x1b[2J", "\x9b", "&#27;",
    "\u202e",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One document of a search: a file's name and bytes, and the verdict it must get where that is
    known."""

    name: bytes
    data: bytes
    must: tuple[str, str] | None = None  # question, status


Family = Callable[[random.Random], Case]


def run(*, quick: bool) -> dict[str, Any]:
    count = _QUICK if quick else _DOCUMENTS
    searched = (_searched(name, family, count) for name, family in FAMILIES.items())
    rows = list(as_they_come(searched, len(FAMILIES)))
    examples = [first for row in rows if (first := row.pop("first"))]
    return {
        "title": f"hostile documents: {sum(row['documents'] for row in rows):,}",
        "rows": rows,
        "notes": [
            "violation: a fault of the checker, a limit reached, a verdict that a closed form "
            "contradicts, a bad status, span or reason, an output that cannot be written",
            *examples,
        ],
    }


def _searched(name: str, family: Family, count: int) -> dict[str, Any]:
    rng = random.Random(f"adversary {name}")
    broken: list[str] = []
    judged = 0
    for case, outcome in _outcomes(islice(iter(lambda: family(rng), None), count)):
        judged += any(v.status != "unread" for v in outcome.report.verdicts)
        found = violations_of(outcome, case.must)
        if found:
            broken.append(
                f"{name}: {found[0]} in {case.data[:200]!r} ({printable(os.fsdecode(case.name))})"
            )
    return {
        "family": name,
        "documents": count,
        "judged": judged,
        "violations": len(broken),
        "first": broken[0] if broken else "",
    }


def _outcomes(cases: Iterator[Case]) -> Iterator[tuple[Case, JudgedDocument]]:
    """Judged by workers, as a class is, each in a file of its own, with the page that would be
    written."""
    with tempfile.TemporaryDirectory() as folder:
        kept, documents = [], []
        for number, case in enumerate(cases):
            path = os.path.join(os.fsencode(folder), b"%05d-" % number + case.name)
            with open(path, "wb") as file:
                file.write(case.data)
            kept.append(case)
            documents.append(Source(printable(os.fsdecode(path)), Path(os.fsdecode(path))))
        yield from zip(kept, judge_many(documents, workers=2, pages=True), strict=True)


def violations_of(outcome: JudgedDocument, must: tuple[str, str] | None = None) -> list[str]:
    """What is broken about this outcome; empty when nothing is."""
    found = []
    for verdict in (v for one in outcome.report.verdicts for v in (one, *one.steps)):
        found += _broken(verdict)
    try:
        exports.as_csv([outcome.report]).encode("utf-8")
        json.dumps(plain(outcome.report), ensure_ascii=False, allow_nan=False).encode("utf-8")
        outcome.page.encode("utf-8")
    except ValueError as reason:
        found.append(f"an output cannot be written: {reason}")
    if any(c in outcome.report.document for c in "\x1b\x9b\n"):
        found.append("its name drives the terminal")
    if must is not None:
        statuses = {v.question: v.status for v in outcome.report.verdicts}
        if statuses.get(must[0]) != must[1]:
            found.append(f"{must[0]} is {statuses.get(must[0])}, not {must[1]}")
    return found


def _broken(verdict: Verdict) -> Iterator[str]:
    span = verdict.span
    shown = f"{verdict.answer} {verdict.reason} {verdict.repair} {' '.join(verdict.remarks)}"
    if verdict.status not in exports.STATUSES:
        yield f"{verdict.question}: status {verdict.status!r}"
    if span and not 0 <= span.start <= span.end:
        yield f"{verdict.question}: span {span.start}:{span.end}"
    if not verdict.reason or "nan" in verdict.reason.split():
        yield f"{verdict.question}: reason {verdict.reason!r}"
    if any(words in verdict.reason for words in _LOST):
        yield f"{verdict.question}: {verdict.reason}"
    if "\x1b" in shown or "\x9b" in shown:
        yield f"{verdict.question}: an escape sequence is quoted"


# ----------------------------------------------------------------------------------------- families


def _noise(rng: random.Random) -> Case:
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, 120)))
    return Case(b"noise" + rng.choice(_SUFFIXES).encode(), text.encode("utf-8", "surrogatepass"))


def _damaged(rng: random.Random) -> Case:
    """What scanners, editors and haste do to answers: stretches are lost or doubled."""
    written = document(rng.randrange(10**6))
    text = written.text
    for _ in range(rng.randint(0, 8)):
        at = rng.randrange(len(text) + 1)
        length = rng.randrange(60)
        piece = text[at : at + length]
        text = text[:at] + rng.choice(("", piece + piece)) + text[at + length :]
    return Case(b"damaged" + written.suffix.encode(), text.encode("utf-8"))


_ATOMS = (
    "k_a", "k_b", "k_i", r"\mu_a", "v_a", "v_b", "q", "A", "B", "A^T", "X", "P", r"\Phi", "W_Q",
    r"\beta", r"\alpha", r"\gamma", "n", "d", "0", "1", "2", "0.5", "10^{400}", r"\infty", r"\i",
    "I", "u_a", r"\epsilon", r"\text{large}", "x",
)  # fmt: skip
_FORMS = (
    "{0} + {1}", "{0} - {1}", "{0} {1}", r"\frac{{{0}}}{{{1}}}", "{0}^{{{1}}}", "{0}_{{{1}}}",
    "({0})^T", "({0})", r"\langle {0}, {1} \rangle", r"\exp({0})", r"\ln {0}", r"\sqrt{{{0}}}",
    r"\|{0}\|", r"\sum_{{i=1}}^n {0}", r"\sum_{{i \ne j}} {0}", r"\max_i {0}",
    r"\mathrm{{tr}}({0})", r"({0})^{{-1}}", r"({0})^+", "[{0}, {1}]", r"\mathrm{{softmax}}({0})",
    r"\begin{{pmatrix}} {0} & {1} \\ {1} & {0} \end{{pmatrix}}", r"\mathcal{{N}}({0}, {1})",
    r"\text{{Attention}}({0})", r"\text{{Attention}}({0}, {1}, {0})", "{0}'", r"{0} \cdot {1}",
    "({0}, {1})", "-{0}", r"[{0}, \dots, {1}]", r"\min({0})", r"\arg\max_i {0}",
    r"{0} \otimes {1}", r"\{{{0}\}}", "|{0}|", r"\tilde {0}",
)  # fmt: skip
_ASKED = (
    "(a) i. ${1} {0}$", r"(a) ii. ${0} \gg {1}$ for all $i \ne j$", r"(a) iii. $c \approx {0}$",
    "(b) i. $M = {0}$", r"(b) ii. $q = {0}$",
    r"(b) ii. $q = \beta (k_a + k_b)$. $$\alpha_a = {0}$$", r"(c) i. $q = {0}$, ${1} \gg 0$",
    r"(c) ii. $\alpha_a = {0}$", r"(c) ii. $\gamma \in [{0}, {1}]$", r"(c) ii. $\gamma \sim {0}$",
    r"(d) i. $q_1 = {0}$, $q_2 = {1}$", "(d) ii. $c = {0}$", "(e) i. $c_2 = {0}$",
    "(e) ii. $V = {0}$, $K = I$, $Q = {1}$", r"Permutation: $\text{{Attention}}({0}) = {1}$",
    "Position embeddings help: ${0} = {1}$", "$k_a^T q = {0}$",
    r"Position embeddings help: ${0} \neq {1}$",
)  # fmt: skip


def _tree(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(_ATOMS)
    return rng.choice(_FORMS).format(_tree(rng, depth - 1), _tree(rng, depth - 1))


def _formulas(rng: random.Random) -> Case:
    """Formulas that can be read and mean nothing: numbers where vectors belong, one argument too
    many."""
    lines = [
        rng.choice(_ASKED).format(_tree(rng, 3), _tree(rng, 2)) for _ in range(rng.randint(1, 4))
    ]
    return Case(b"formulas.md", "\n\n".join(lines).encode())


_BRACKETS = (
    ("{", "}"), ("x^{", "}"), (r"\frac{", "}{2}"), (r"\left(", r"\right)"), (r"\boxed{", "}"),
    ("(", ")"), (r"\begin{cases}", r"\end{cases}"), (r"\sum_{", "}"), (r"\cancel{", "}"),
    (r"\text{", "}"), ("[", "]"),
)  # fmt: skip


def _nested(rng: random.Random) -> Case:
    left, right = rng.choice(_BRACKETS)
    depth = rng.randint(1, 60)
    formula = left * depth + rng.choice(_ATOMS) + right * rng.choice((depth, depth, depth - 1))
    return Case(b"nested.md", rng.choice(_ASKED).format(formula, rng.choice(_ATOMS)).encode())


def _value(rng: random.Random, depth: int) -> Any:
    """A value where a notebook has something else."""
    if depth and rng.random() < 0.5:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if depth and rng.random() < 0.5:
        return {rng.choice(("cells", "source", "cell_type", "x")): _value(rng, depth - 1)}
    return rng.choice(
        (None, 5, -1.5, True, "", "markdown", "code", r"(b) ii. $q = k_a$", "\ud800 $q$", "\x1b[2J")
    )


def _notebook(rng: random.Random) -> Case:
    cell = {
        "cell_type": "markdown",
        "source": [r"(b) ii. $q = \beta(k_a + k_b)$"],
        "input": "x",
        "metadata": {},
    }
    if rng.random() < 0.7:
        cell[rng.choice(list(cell))] = _value(rng, 2)
    cells = [cell] if rng.random() < 0.7 else _value(rng, 2)
    book: Any = (
        {"cells": cells}
        if rng.random() < 0.5
        else {"worksheets": [{"cells": cells}, _value(rng, 1)]}
    )
    data = json.dumps(book if rng.random() < 0.9 else _value(rng, 3)).encode()
    return Case(b"book.ipynb", data if rng.random() < 0.8 else data[: rng.randrange(len(data) + 1)])


def _bytes(rng: random.Random) -> Case:
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, 40)))
    encoding = rng.choice(
        ("utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "gb18030", "shift_jis")
    )
    data = bytearray(text.encode(encoding, "replace"))
    for _ in range(rng.randint(0, 20)):
        data.insert(rng.randrange(len(data) + 1), rng.randrange(256))
    letters = bytes(b for b in rng.randbytes(rng.randint(0, 12)) if b not in b"/\0")
    return Case(letters + rng.choice(_SUFFIXES).encode(), bytes(data))


def _numbers(rng: random.Random) -> Case:
    """A lead or a scale given as a number; beside its threshold nothing is asked."""
    if rng.random() < 0.5:
        # 1 / (1 + 9 exp(-lead)) >= 0.9 from ln 81 on.
        lead = _apart(rng, math.log(81.0))
        status = "correct" if lead > math.log(81.0) else "incomplete"
        text = rf"(a) ii. $k_j^T q - k_i^T q \geq {lead:.2f}$ for all $i \ne j$"
        return Case(b"lead.md", text.encode(), ("a.cond", status))
    # |1 / (2 + 8 exp(-beta)) - 1/2| <= 0.02 from ln(0.48 * 8 / 0.04) on.
    least = math.log(0.48 * 8 / 0.04)
    beta = _apart(rng, least)
    status = "correct" if beta > least else "incomplete" if beta >= 1 else "wrong"
    return Case(
        b"scale.md",
        rf"(b) ii. $q = \beta(k_a + k_b)$, $\beta = {beta:.2f}$".encode(),
        ("b.q", status),
    )


def _apart(rng: random.Random, threshold: float) -> float:
    while True:
        number = round(math.exp(rng.uniform(math.log(0.05), math.log(100.0))), 2)
        if abs(number - threshold) > 0.05 and number != 1.0:
            return number


FAMILIES: dict[str, Family] = {
    "noise": _noise,
    "damaged answers": _damaged,
    "meaningless formulas": _formulas,
    "nested formulas": _nested,
    "notebooks": _notebook,
    "bytes and names": _bytes,
    "numbers with a closed form": _numbers,
}
