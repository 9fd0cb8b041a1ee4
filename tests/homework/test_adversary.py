"""The search for documents that break the checker finds none, and would notice one."""

from __future__ import annotations

import pytest
from benchmarks import adversary_documents

from headwright.homework.batch import JudgedDocument
from headwright.homework.limits import OUR_FAULT
from headwright.homework.verdict import Report, Span, Verdict

FINE = Verdict("b.q", "q = k_a", "wrong", "it misses b", span=Span(0, 5, 1, 1))


def test_a_small_search_finds_nothing():
    found = adversary_documents.run(quick=True)
    assert len(found["rows"]) == len(adversary_documents.FAMILIES)
    assert [row["violations"] for row in found["rows"]] == [0] * len(found["rows"]), found["notes"]
    assert sum(row["judged"] for row in found["rows"]) > 80


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict("b.q", "", "wrong", ""),
        Verdict("b.q", "", "wrong", "off by nan percent"),
        Verdict("*", "", "unread", f"{OUR_FAULT} (KeyError: 5)"),
        Verdict("*", "", "unread", "it took longer than 5 s of processor time"),
        Verdict("b.q", "", "wrong", "r", span=Span(5, 2, 1, 1)),
        Verdict("b.q", "\x1b[31m", "wrong", "r"),
        Verdict("b.q", "\ud800", "wrong", "r"),
        Verdict("b.q", "", "correct", "r", steps=(Verdict("b.q/step:c", "", "wrong", ""),)),
    ],
)
def test_the_search_notices_what_is_broken(verdict):
    assert adversary_documents.violations_of(JudgedDocument("d", Report("d", (FINE,)))) == []
    assert adversary_documents.violations_of(JudgedDocument("d", Report("d", (FINE, verdict))))


def test_the_search_notices_a_verdict_that_a_closed_form_contradicts():
    judged = JudgedDocument("d", Report("d", (FINE,)))
    assert adversary_documents.violations_of(judged, ("b.q", "wrong")) == []
    assert adversary_documents.violations_of(judged, ("b.q", "correct")) == [
        "b.q is wrong, not correct"
    ]
