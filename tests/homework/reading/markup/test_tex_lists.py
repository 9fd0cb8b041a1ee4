"""LaTeX lists get the labels their PDF shows."""

from __future__ import annotations

from headwright.homework.reading.formats import read_text


def labels(text, suffix=".tex"):
    return [s.label for s in read_text(text, name="t", suffix=suffix).segments if s.label]


def test_lists_get_the_labels_their_pdf_shows():
    nested = (
        "\\begin{enumerate}[label=(\\alph*)]\\item A "
        "\\begin{enumerate}[label=\\roman*.]\\item $x$ \\item $y$"
        "\\end{enumerate}\\item B\\begin{itemize}\\item dot\\end{itemize}\\end{enumerate}"
    )
    assert labels(nested) == ["(a)", "i.", "ii.", "(b)"]
    unstyled = (
        "\\begin{enumerate}\\item x\\begin{enumerate}\\item y\\end{enumerate}\\end{enumerate}"
    )
    assert labels(unstyled) == ["1.", "(a)"]
    assert labels("\\begin{enumerate}[a)]\\item x\\item y\\end{enumerate}") == ["a)", "b)"]
    assert labels("\\begin{enumerate}[(i)]\\item x\\item y\\end{enumerate}") == ["(i)", "(ii)"]
    assert labels("\\begin{enumerate}\\setcounter{enumi}{2}\\item x\\end{enumerate}") == ["3."]
    exam = (
        "\\begin{questions}\\question x\\begin{parts}\\part y\\part z\\end{parts}\\end{questions}"
    )
    assert labels(exam) == ["1.", "(a)", "(b)"]
    assert labels("\\begin{itemize}\\item[(c)] x\\end{itemize}") == ["(c)"]
