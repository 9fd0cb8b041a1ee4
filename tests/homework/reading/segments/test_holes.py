"""Room for an answer with nothing in it parts the question from the blank."""

import pytest

from headwright.homework.reading.formats import read_text


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("\\item The weights, please.\n\\begin{solution}\n\\end{solution}", ".tex"),
        ("\\item The weights, please.\n\n\\fbox{\\parbox{5cm}{\\vspace{2cm}}}", ".tex"),
        ("(a) The weights, please.\n\n<!-- your answer here -->", ".md"),
        ("(a) The weights, please.\n\n____________________", ".txt"),
    ],
)
def test_what_stands_before_an_empty_answer_asks(text, suffix):
    question, hole = read_text(text, name="t", suffix=suffix).segments
    assert (question.voice, hole.voice) == ("question", "answer")
    assert not hole.text
