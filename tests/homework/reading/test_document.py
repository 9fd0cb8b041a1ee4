"""Every segment knows its place: offsets, lines and sub-spans point at what was typed, in every
format."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwright.errors import InputError
from headwright.homework.reading.formats import read_file, read_text
from headwright.homework.reading.sources import named

MIXED = """# Homework

(a) i. Because $\\alpha_i \\ge 0$ and
$\\sum_i \\alpha_i = 1$.

ii) $$k_j^T q \\gg k_i^T q$$

**b)** \\[ q = \\beta(k_a + k_b) \\] where \\(\\beta \\gg 0\\)
"""


def formulas(document):
    return [s.text for s in document.segments if s.kind == "math"]


def test_spans_point_at_the_source():
    document = read_text(MIXED, name="mixed")
    assert formulas(document) == [
        "\\alpha_i \\ge 0", "\\sum_i \\alpha_i = 1", "k_j^T q \\gg k_i^T q",
        "q = \\beta(k_a + k_b)", "\\beta \\gg 0",
    ]  # fmt: skip
    for segment in document.segments:
        assert segment.text in document.text[segment.start : segment.end]
        start, end = segment.span(0, len(segment.text))
        assert document.text[start:end] == segment.text
        assert document.text.count("\n", 0, segment.start) + 1 == segment.line_start


def test_labels_are_kept_as_written_and_cut_out_of_the_text():
    document = read_text(MIXED, name="mixed")
    assert [s.label for s in document.segments if s.label] == ["(a) i.", "ii)", "b)"]
    assert not any("ii)" in s.text for s in document.segments)


def test_paragraphs_group_what_stands_together():
    document = read_text("Let $q$ be\nlarge.\n\nThen $c$.", name="t")
    assert [s.paragraph for s in document.segments][:3] == [document.segments[0].paragraph] * 3
    assert document.segments[-1].paragraph != document.segments[0].paragraph


def test_macro_text_points_at_its_call():
    text = "\\newcommand{\\kk}[1]{k_{#1}^\\top q}\n$\\kk{j} \\gg \\kk{i}$"
    document = read_text(text, name="t")
    (formula,) = [s for s in document.segments if s.kind == "math"]
    assert formula.text == "k_{j}^\\top q \\gg k_{i}^\\top q"
    start, end = formula.span(0, formula.text.index(" q"))
    assert text[start:end] == "\\kk{j"
    assert text[formula.start : formula.end] == "$\\kk{j} \\gg \\kk{i}$"


def test_reads_files_text_and_refuses_missing_paths(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("$q$", encoding="utf-8")
    assert named(path).path == named(str(path)).path == path
    assert named("$q$").text == "$q$"
    assert formulas(read_file(path)) == formulas(read_text("$q$", name="t")) == ["q"]
    for refuses in (named, read_file):
        with pytest.raises(InputError, match="no file"):
            refuses(tmp_path / "nowhere.md")


def test_notebook_offsets_point_into_the_joined_cells():
    cells = [
        {"cell_type": "markdown", "source": ["# 1\n", "(a) $q=\\beta(k_a+k_b)$"]},
        {
            "cell_type": "code",
            "source": "q = '$not math$'",
            "outputs": [{"data": {"image/png": "A" * 100}}],
        },
        {"cell_type": "raw", "source": 7},
    ]
    document = read_text(json.dumps({"cells": cells}), name="n", suffix=".ipynb")
    assert formulas(document) == ["q=\\beta(k_a+k_b)"]
    assert [s.kind for s in document.segments][-1] == "code"
    for segment in document.segments:
        assert segment.text.strip() in document.text[segment.start : segment.end]


WORDS = [
    "$", "$$", "\\(", "\\)", "\\[", "\\]", "q", "k_a", "\\beta", "\n", "\n\n", "(a)", "ii.", "- ",
    "# ", "~~", "`", "```", "{", "}", "\\cancel{", "\\begin{align}", "\\end{align}", "\\item", "%",
    "\\newcommand{\\x}{y}", "\\x", "\\ifans", "\\fi", "解：", "Answer:", "β", "\0", "\ue000",
    "1.1 T", "words of prose here", "\\\\", "<del>", "</del>", "&gt;",
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".md", ".tex", ".typ", ""])
@given(parts=st.lists(st.sampled_from(WORDS), max_size=30))
def test_any_mixture_of_marks_keeps_spans_in_order(suffix, parts):
    document = read_text(" ".join(parts), name="t", suffix=suffix)
    reached = 0
    for segment in document.segments:
        assert reached <= segment.start <= segment.end <= len(document.text)
        assert 1 <= segment.line_start <= segment.line_end <= document.text.count("\n") + 1
        reached = segment.end
