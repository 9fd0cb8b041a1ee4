"""Names go out of texts, and nothing else does."""

from __future__ import annotations

import pytest

from headwright.course.anonymous import Redaction
from headwright.course.people import Student
from headwright.homework.showing.pages import document_page
from headwright.homework.verdict import Report, Span, Verdict

SAID = "Mark Read (u7) says so, markread@x.org, read_mark.md"
REPORT = Report(
    "s-1",
    (Verdict("a.intu", SAID, "unread", f"quoted: {SAID}", span=Span(0, len(SAID), 1, 1)),),
)


@pytest.fixture
def redaction():
    return Redaction(Student("u7", "Mark Read", "m@x.org"), "s-1")


def test_words_of_our_own_stay(redaction):
    (verdict,) = redaction.report(REPORT).verdicts

    assert verdict.status == "unread"
    assert verdict.answer == "s-1 (s-1) says so, s-1@x.org, s-1_s-1.md"
    assert redaction.text("unread remarks are marked, k_u72") == "unread remarks are marked, k_u72"


def test_a_page_keeps_its_tags_and_loses_the_name(redaction):
    """A title and the label of a picture quote, too."""
    before = document_page(REPORT, SAID, {})
    after = redaction.page(before)

    assert after.count("<mark ") == before.count("<mark ") == 1
    assert "<!-- marks -->" in after
    assert "u7" not in after
    for name in ("Mark Read", "Read", "markread"):
        assert name not in after


def test_a_number_is_no_name():
    assert Redaction(Student("12"), "s-1").text("alpha = 12") == "alpha = 12"
