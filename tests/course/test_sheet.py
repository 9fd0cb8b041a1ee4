import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwright.course.sheet import read_sheet
from headwright.errors import InputError

CELLS = st.text(st.sampled_from('ab1,;" \n\r\té語'), max_size=6)
ROWS = st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=5)
MARKS = {"utf-8": b"", "utf-8-sig": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@settings(deadline=None, max_examples=80)
@given(rows=ROWS, encoding=st.sampled_from(sorted(MARKS)), separator=st.sampled_from(",;\t"))
def test_an_unchanged_sheet_is_written_byte_for_byte(tmp_path_factory, rows, encoding, separator):
    """Whatever the encoding, the separator, the quotes and the line ends; and the cells are those
    that the standard library reads."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([["id", "mark"], *rows])
    file = tmp_path_factory.mktemp("sheet") / "marks.csv"
    file.write_bytes(MARKS[encoding] + text.getvalue().encode(encoding))

    sheet = read_sheet(file)

    assert sheet.written() == file.read_bytes()
    expected = list(csv.reader(io.StringIO(text.getvalue()), delimiter=separator))
    assert [[c.text for c in row] for row in sheet.rows] == [
        [c.strip() for c in row] or [""] for row in expected
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_line_ends_stay(tmp_path, end):
    file = tmp_path / "marks.csv"
    file.write_bytes(f"id,mark\r\na,1{end}".encode())

    assert read_sheet(file).written() == file.read_bytes()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf\n\n", "empty"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04rest", "workbook"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, data, said):
    file = tmp_path / "marks.csv"
    file.write_bytes(data)

    with pytest.raises(InputError, match=said):
        read_sheet(file)


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="check the path"):
        read_sheet(tmp_path / "nothing.csv")


def test_lines_are_counted_across_quoted_line_ends(tmp_path):
    file = tmp_path / "marks.csv"
    file.write_bytes(b'id,mark\n"a\nb",1\n\nc,2\n')

    assert [line for line, _ in read_sheet(file).lines()] == [2, 5]


def test_a_quote_that_nothing_closes_costs_no_letter(tmp_path):
    file = tmp_path / "marks.csv"
    file.write_text('id,name\nu1,"Ana\nu2,Joe\n')

    assert [cells for _, cells in read_sheet(file).lines()] == [["u1", '"Ana'], ["u2", "Joe"]]
