"""Rows, CSV and pages say what the verdicts say, whatever a document is called and
contains."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.homework.showing import exports, page_folder, pages
from headwright.homework.verdict import Report, Span, Verdict, unreadable
from headwright.report.formula import MOST_NESTED, formula, nesting

EVIL = '<script>alert("x")</script> & \'"'
TEXT = f"line one {EVIL}\nq = half\nthe end"
AT = TEXT.index("q = half")
STEP = Verdict("b.q/step:weights", r"\alpha_a = 1", "wrong", "exp was lost")
WRONG = Verdict(
    "b.q",
    r"q = \frac{1}{2}(k_a + k_b)",
    "wrong",
    "0.146 at n = 10",
    {"claim": EVIL, "weights": np.full(10, 0.1), "a": 0},
    "multiply by beta",
    Span(AT, AT + 8, 2, 2),
    (STEP,),
    (EVIL,),
    0.9,
)
REPORTS = [
    Report(
        f"a{EVIL}.md",
        (WRONG, Verdict("a.out", "c = v_j", "correct", "fine", span=Span(0, 8, 1, 1))),
    ),
    Report(
        "b.md",
        (
            Verdict("b.q", "=1+1", "wrong", "0.2 at n = 7"),
            Verdict("a.intu", EVIL, "unread", "words"),
        ),
    ),
    unreadable("c.md", "the document is empty"),
]
BANK = [
    SimpleNamespace(id="b.q", title="Average", points=2.0),
    SimpleNamespace(id="a.out", title="Copy", points=1.0),
    SimpleNamespace(id="a.intu", title="Meaning", points=1.0),
    SimpleNamespace(id="c.q", title="Random", points=1.0),
]


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        HTMLParser.__init__(self)
        self.opened: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)
        found = dict(attrs)
        self.links += [found["href"]] if tag == "a" else []
        self.ids += [found["id"]] if "id" in found else []


def test_rows_are_json_with_the_promised_fields():
    rows = exports.rows(REPORTS)
    assert len(rows) == 5
    wanted = {
        "document",
        "question",
        "span",
        "answer",
        "status",
        "reason",
        "counterexample",
        "repair",
    }
    assert all(wanted <= set(row) for row in rows)
    assert json.loads(json.dumps(rows))[0]["counterexample"]["weights"] == [0.1] * 10
    assert rows[0]["span"] == {"start": AT, "end": AT + 8, "line_start": 2, "line_end": 2}


def test_csv_has_one_row_per_document_and_question_and_runs_nothing():
    rows = list(csv.DictReader(io.StringIO(exports.as_csv(REPORTS))))
    assert [(row["question"], row["status"]) for row in rows] == [
        ("b.q", "wrong"),
        ("a.out", "correct"),
        ("b.q", "wrong"),
        ("a.intu", "unread"),
        ("*", "unread"),
    ]
    assert rows[2]["answer"] == "'=1+1"
    assert rows[0]["line_start"] == "2"
    assert rows[0]["counterexample"].endswith("9 others, each: weights 0.1")
    assert not set(rows[0]["counterexample"]) & set("[]{}")


def test_faults_that_differ_in_numbers_are_one():
    (fault,) = exports.faults(REPORTS)
    assert fault.question == "b.q"
    assert len(fault.documents) == 2
    assert exports.tallies(REPORTS)["b.q"] == {"wrong": 2}


def test_questions_stand_in_the_order_of_the_bank():
    assert list(exports.tallies(REPORTS, ["c.q", "a.out", "b.q"])) == ["a.out", "b.q", "a.intu"]


def test_pages_escape_everything_and_mark_the_spans(tmp_path):
    with page_folder.opened(tmp_path) as folder:
        for report in REPORTS:
            folder.add(report, pages.document_page(report, TEXT, {"b.q": EVIL}, draw=pages.drawn))
    entries = folder.entries
    for file in tmp_path.iterdir():
        tags = Tags(file.read_text("utf-8"))
        assert "script" not in tags.opened
        assert all(link.startswith("#") and link[1:] in tags.ids for link in tags.links)
    page = (tmp_path / entries[0].file).read_text("utf-8")
    assert re.search(r'<mark id="at0"[^>]*><a href="#v0">q = half<sup>', page)
    assert "0.146 at n = 10" in page
    assert "9 others, each" in page


@pytest.mark.parametrize("span", [Span(5, 2, 1, 1), Span(0, 10**9, 1, 1), Span(-3, 4, 1, 1)])
def test_spans_that_do_not_fit_are_left_unmarked(span):
    page = pages.document_page(
        Report("x", (Verdict("b.q", "", "wrong", "r", span=span),)), TEXT, {}
    )
    assert "<mark" not in page.split("</style>")[-1]


def test_overlapping_spans_keep_the_text_once():
    verdicts = (
        Verdict("b.q", "", "wrong", "r", span=Span(0, 12, 1, 1)),
        Verdict("c.q", "", "wrong", "r", span=Span(5, 16, 1, 1)),
    )
    page = pages.document_page(Report("x", verdicts), "0123456789abcdefghij", {})
    source = re.sub(
        r"<sup>.*?</sup>|<[^>]*>", "", page.split('class="source">')[1].split("</section>")[0]
    )
    assert source == "0123456789abcdefghij"


def test_pages_of_an_earlier_run_go_and_nothing_else(tmp_path):
    (tmp_path / "0007-mine.html").write_text("<p>a page of somebody else</p>")
    (tmp_path / "notes.txt").write_text("mine")
    for reports in (REPORTS, REPORTS[:1]):
        with page_folder.opened(tmp_path) as folder:
            for report in reports:
                folder.add(report, pages.document_page(report, TEXT, {}))
            folder.finish("<p>the index</p>")
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"0007-mine.html", "index.html", "notes.txt", folder.entries[0].file}


def test_the_name_of_a_page_depends_on_its_document_alone(tmp_path):
    """A link that was handed out never leads to somebody else's text after the next run."""

    def names(reports):
        with page_folder.opened(tmp_path) as folder:
            for report in reports:
                folder.add(report, pages.document_page(report, TEXT, {}))
            folder.finish("")
        return {entry.report.document: entry.file for entry in folder.entries}

    same = [Report(f"u{k}/hw5.md", (WRONG,)) for k in range(4)]
    whole = names(same)
    assert len(set(whole.values())) == 4
    assert names(same[::-1][:2]) == {name: whole[name] for name in ("u3/hw5.md", "u2/hw5.md")}


def test_a_second_run_into_the_same_folder_is_refused(tmp_path):
    def second_run() -> None:
        with page_folder.opened(tmp_path):
            pass

    with page_folder.opened(tmp_path), pytest.raises(InputError, match="another run is writing"):
        second_run()
    second_run()


@pytest.mark.parametrize(
    ("latex", "depth"),
    [
        ("q", 0),
        (r"\frac{\exp(\beta \|\mu_{a}\|^{2})}{2}", 2),
        (r"\left(\left(x\right)\right)", 2),
        (r"\{\{ \leftarrow \} \\{x}", 1),
        (r"\begin{cases}{x}\end{cases}", 3),
        ("{" * 40, 40),
        ("}}}{", 0),
    ],
)
def test_nesting_is_counted(latex, depth):
    assert nesting(latex) == depth


NESTED = (
    ("{", "}"),
    ("x^{", "}"),
    (r"\frac{", "}{2}"),
    (r"\left(", r"\right)"),
    (r"\begin{matrix}", r"\end{matrix}"),
)


@pytest.mark.parametrize(("left", "right"), NESTED)
def test_deep_formulas_are_shown_as_text(left, right):
    """Every further level doubles the time that drawing takes, whatever the group is."""
    depth = MOST_NESTED // nesting(left + right)
    assert pages.drawn(left * depth + "k" + right * depth).startswith("<svg")
    deeper = left * (depth + 1) + "k" + right * (depth + 1)
    assert pages.drawn(deeper) == pages.as_text(deeper)
    with pytest.raises(InputError, match="nest at most"):
        formula(deeper)
