"""The page of a class: what it shows, what it never shows, and that it can be searched and
sorted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.course.class_report.sample import BANK, sample

from headwright.course.class_report import ClassRecord, index_page
from headwright.course.people import Student

EVIL = "<img src=x onerror=alert(1)>"


class Table(HTMLParser):
    """The cells of the table of students, and all links."""

    def __init__(self, html: str) -> None:
        HTMLParser.__init__(self)
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.opened: set[str] = set()
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.opened.add(tag)
        self._inside = found.get("class") == "students" if tag == "table" else self._inside
        self.links += [found["href"]] if tag == "a" else []
        if tag == "tr" and self._inside:
            self.rows.append([])
        if tag in ("td", "th") and self._inside:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self._inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def large():
    record = sample(500)
    return record, index_page(record, BANK)


def test_a_class_of_500_fits_into_two_megabytes(large):
    assert len(large[1].encode("utf-8")) < 2_000_000


def test_every_student_has_a_line_with_totals_and_the_own_page(large):
    record, html = large
    table = Table(html)

    assert len(table.rows) == 501
    for one, cells in zip(record.graded, table.rows[1:], strict=True):
        assert cells[0].startswith(f"{one.student.name} {one.student.id}")
        assert cells[1] == f"{one.points:g} / {one.max_points:g}"
        assert cells[2] == (f"{one.open_points:g}" if one.open_points else "")
    assert table.links[:500] == [record.pages[one.student.id][0] for one in record.graded]


def test_counts_of_faults_mean_what_they_say(large):
    record, html = large
    answers = [verdict for one in record.graded for verdict in one.report.verdicts]
    wrong = Counter(verdict.question for verdict in answers if verdict.status == "wrong")
    faults = html.partition("Most common faults")[2].partition("</section>")[0]
    shown = re.findall(r'width:([\d.]+)%"></i></div>(\d+) of 500', faults)

    assert [int(number) for _, number in shown] == [number for _, number in wrong.most_common(8)]
    for width, number in shown:
        assert float(width) == pytest.approx(100 * int(number) / 500)


def test_who_is_missing_and_whose_nobody_knows_is_listed(large):
    record, html = large
    assert f"Nothing handed in: {len(record.without)}" in html
    assert "Documents without a student: 1" in html
    assert html.count("of no student in the roster") == 1


def test_a_hand_in_on_another_sheet_is_noted_with_the_name(large):
    one = large[0].graded[0]
    record = ClassRecord([one], {}, notes={one.student.id: "written on a sheet of another course"})

    assert Table(index_page(record, BANK)).rows[1][0].endswith("on a sheet of another course")


def test_nothing_outside_is_needed_and_no_other_name_is_shown(large):
    _, html = large
    assert not re.search(r"https?:|//[a-z]|@import|url\(", html)
    assert "secret" not in html


def test_names_are_text(large):
    one = replace(large[0].graded[0], student=Student("u1", EVIL))
    html = index_page(ClassRecord([one], {"u1": ["a.html"]}, without=[Student(EVIL)]), BANK)

    assert "img" not in Table(html).opened


def test_a_class_of_nobody_has_a_page():
    assert "0 hand-ins" in index_page(ClassRecord([], {}), BANK)


def test_the_table_is_searched_and_sorted_by_keyboard(large, chromium, tmp_path):
    record, html = large
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    page = chromium.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "index.html").as_uri())
    names = "[...document.querySelectorAll('.students tbody tr:not([hidden])')].map(r => r.{})"

    page.focus("#search")
    page.keyboard.type("wisniewski u01")
    shown = page.evaluate(names.format("cells[0].querySelector('.id').textContent"))
    wanted = [one.student for one in record.graded]
    wanted = [s.id for s in wanted if "Wiśniewski" in s.name and s.id.startswith("u01")]
    assert shown == wanted
    assert page.inner_text("#shown") == f"{len(wanted)} of 500"

    page.fill("#search", "")
    page.focus(".students th:nth-child(2) button")
    for order in (1, -1):
        page.keyboard.press("Enter")
        points = page.evaluate(names.format("cells[1].textContent"))
        numbers = [float(text.split()[0]) * order for text in points]
        assert numbers == sorted(numbers)
        assert len(numbers) == 500
    assert page.get_attribute(".students th:nth-child(2)", "aria-sort") == "descending"
    page.close()
    assert faults == []
