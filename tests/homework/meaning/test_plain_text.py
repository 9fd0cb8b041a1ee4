"""Formulas in plain text, as documents without dollar signs and text out of a PDF have them."""

from __future__ import annotations

import pytest

from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text


@pytest.mark.parametrize(
    ("text", "question", "status"),
    [
        ("(a) kj⊤q ≫ ki⊤q for every i ≠ j", "a.cond", "correct"),
        ("(a) kj.q has to be bigger than ki.q for all other i", "a.cond", "incomplete"),
        ("(e) i. c_2 es aproximadamente u_a. No.", "e.c2", "correct"),
        ("(e) i. c_2 ist ungefähr u_b. Nein.", "e.c2", "wrong"),
        (
            "(e) ii. V = (u_b u_b^T - u_c u_c^T)/beta^2\nK = I\n"
            "Q = (u_d u_a^T + u_c u_d^T)/beta^2\n-> v_1 = u_b, q_2 = u_d",
            "e.KQV",
            "correct",
        ),
        (
            r"(b) ii. I take a factor $\beta$ that is very large, so that $q=\beta k_a+\beta k_b$.",
            "b.q",
            "correct",
        ),
        (
            r"(a) ii. $k_j^\top q$ is much larger than the rest: $k_j^\top q \gg k_i^\top q$",
            "a.cond",
            "correct",
        ),
    ],
)
def test_it_is_judged(text, question, status):
    report = judge_document(read_text(text, name="t", suffix=".txt"))
    found = {verdict.question: verdict.status for verdict in report.verdicts}
    assert found.get(question) == status
