"""Documents made to hurt: bounded time and memory, a verdict or an honest `unread`, never an
exception."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from headwright.homework.batch import judge_many
from headwright.homework.limits import MOST_CHARACTERS, OUR_FAULT
from headwright.homework.reading.sources import Source

SECONDS = 1.0  # of processor time allowed per document here; users get five


def nested(left: str, middle: str, right: str, depth: int) -> str:
    return left * depth + middle + right * depth


ANSWER = "(b) $q = \\beta(k_a+k_b)$ where $\\beta \\gg 0$.\n\n"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HOSTILE = {
    "20 MB of text": "q = beta (k_a + k_b). " * 1_000_000,
    "a megabyte of formulas": (ANSWER * 20_000)[:900_000],
    "a megabyte of plain formulas": ("q = beta (k_a + k_b) and c = v_j. " * 30_000)[:900_000],
    "nested braces": f"(b) ii. $q = {nested('{', 'k_a', '}', 100_000)}$",
    "nested brackets": f"(b) ii. $q = {nested('(', 'k_a', ')', 100_000)}$",
    "nested fractions": f"(b) ii. $q = {nested(chr(92) + 'frac{', 'k_a', '}{2}', 3_000)}$",
    "nested strikes": f"${nested(chr(92) + 'cancel{', 'x', '}', 20_000)}$",
    "nested indices": f"(b) ii. $q = k{nested('_{a', '', '}', 5_000)}$",
    "sums of sums": "(b) ii. $q = " + "\\sum_{i=1}^{n} " * 200 + "k_i$",
    "a long sum": "(b) ii. $q = \\sum_{i=1}^{999999999999} k_i$",
    "many terms": "(b) ii. $q = " + " + ".join(["k_a"] * 20_000) + "$",
    "many signs": "(b) ii. $q = " + "-" * 50_000 + "k_a$",
    "a tower of powers": "(b) ii. $q = 9^{9^{9^{9}}} k_a$ and $\\beta = 9^9^9$",
    "a tower in Python": "(b) ii. q = 9**9**9**9 k_a",
    "a long number": "(b) ii. $q = " + "9" * 100_000 + " k_a$",
    "a macro bomb": "".join(f"\\def\\{a}{{\\{b}\\{b}}}" for a, b in pairwise(LETTERS)) + "\\a",
    "dollars": "$" * 500_000,
    "stray dollars": "a $ b " * 100_000,
    "open delimiters": "\\[" * 200_000,
    "open environments": "\\begin{align}" * 50_000,
    "backticks": "` `` ``` " * 50_000,
    "strikes": "~~a" * 200_000,
    "open tags": "<del>" * 100_000,
    "entities": "&gt;" * 200_000,
    "labels": "(a) i. " * 100_000,
    "labels on lines": "(a)\n" * 100_000,
    "conditionals": "\\documentclass{x}" + "\\ifans" * 100_000,
    "chains": "(a) ii. $" + " \\gg ".join(["k_j^T q"] * 5_000) + "$",
    "combining marks": "(b) ii. $q = k_a$" + "\u0301" * 50_000,
    "words": "(a) ii. " + "much greater than " * 50_000,
    "many queries": "(d) i. $" + ", ".join(f"q_{i} = \\beta \\mu_a" for i in range(5_000)) + "$",
    "one word": "A" * 900_000,
}  # fmt: skip


def check(source: Source, seconds: float = SECONDS):
    """Judged as every document is: in a worker that is ended when it uses too much."""
    (outcome,) = judge_many([source], seconds=seconds)
    verdicts = {v.question: v for v in outcome.report.verdicts}
    assert not any(
        OUR_FAULT in v.reason or "ended the reader" in v.reason for v in verdicts.values()
    )
    return verdicts


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_never_called_correct(text):
    verdicts = check(Source("hostile", text=text))
    right = {q: v.answer[:60] for q, v in verdicts.items() if v.status == "correct"}
    assert (
        not right or "megabyte" in text or "\\beta(k_a+k_b)" in text or "beta (k_a + k_b)" in text
    )
    assert all(len(v.reason) < 2_000 and len(v.answer) < MOST_CHARACTERS for v in verdicts.values())


RAW = {
    "zeros.txt": b"\0" * 1_000_000,
    "noise.md": bytes(range(256)) * 2_000,
    "deep.ipynb": b"[" * 200_000,
    "dict.ipynb": b'{"cells": {"a": 1}}',
    "numbers.ipynb": json.dumps(
        {"cells": [1, None, "x", {"cell_type": "markdown", "source": [1, 2]}]}
    ).encode(),
    "surrogates.ipynb": b'{"cells": [{"cell_type": "markdown", "source": "\\ud800 $q$"}]}',
    "worksheets.ipynb": b'{"worksheets":[{"cells":5}]}',
    "sheets.ipynb": b'{"worksheets":[5, {"cells":[null]}, {}]}',
}


@pytest.mark.parametrize("name", RAW)
def test_hostile_files_are_unread_with_a_reason(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(RAW[name])
    verdicts = check(Source(name, path))
    assert all(v.status in ("unread", "missing") for v in verdicts.values())
    assert all(v.reason for v in verdicts.values())


def test_pictures_in_notebooks_do_not_hide_the_answer(tmp_path):
    picture = {
        "cell_type": "code",
        "source": "x",
        "outputs": [{"data": {"image/png": "A" * 20_000_000}}],
    }
    answer = {
        "cell_type": "markdown",
        "source": "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$",
    }
    path = tmp_path / "pictures.ipynb"
    path.write_text(json.dumps({"cells": [picture, answer]}))
    assert check(Source("pictures", path), seconds=60)["b.q"].status == "correct"
