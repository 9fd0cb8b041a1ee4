"""Rows in, the same numbers out: as CSV, as Parquet, as pandas."""

import csv
import io
import math

import pytest

from headwright.study.numbers import fault
from headwright.study.table import Table


def table():
    made = Table(["n", "kind"])
    made.add({"n": 1, "kind": "a"}, {"x": 0.1 + 0.2, "whole": 10**30})
    made.add({"n": 2}, {}, 'ValueError: no, "never"')
    made.add({"n": 3, "kind": "b"}, {"x": math.nan, "late": -0.0, "true": True, "whole": 1})
    return made


def test_csv_has_every_name_of_any_row_and_every_bit():
    assert table().csv() == (
        "n,kind,x,whole,late,true,error\n"
        "1,a,0.30000000000000004,1000000000000000000000000000000,,,\n"
        '2,,,,,,"ValueError: no, ""never"""\n'
        "3,b,nan,1,-0.0,1,\n"
    )
    rows = list(csv.DictReader(io.StringIO(table().csv())))
    assert float(rows[0]["x"]) == 0.1 + 0.2


def test_messages_have_a_column_only_where_there_is_one():
    made = Table(["n"])
    made.add({"n": 1}, {"x": 2})

    assert made.csv() == "n,x\n1,2\n"
    assert made.finished() == [{"n": 1, "x": 2}]
    assert [row["n"] for row in table().finished()] == [1, 3]
    assert "error" not in table().finished()[0]


def test_parquet_and_pandas_hold_the_same_table(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    made = table()
    made.add({"n": 0.5, "kind": "c"}, {"x": 1})
    files = made.write(tmp_path)
    read = pandas.read_parquet(tmp_path / "results.parquet")
    shown = made.to_pandas()

    assert [file.name for file in files] == ["results.csv", "results.parquet"]
    assert list(read) == list(shown) == list(made.columns)
    assert read["x"][0] == shown["x"][0] == 0.1 + 0.2
    assert math.isnan(read["x"][2])
    assert read["whole"][0] == 1e30
    assert read["n"].tolist() == [1.0, 2.0, 3.0, 0.5]
    assert math.copysign(1, read["late"][2]) == -1


def test_whole_numbers_beyond_every_float_are_words_in_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    made = Table(["n"])
    made.add({"n": 1}, {"huge": 10**400})
    made.add({"n": 2}, {"huge": 0.5})
    made.write(tmp_path)

    read = parquet.read_table(tmp_path / "results.parquet")
    assert read["huge"].to_pylist() == [str(10**400), "0.5"]


def test_an_old_parquet_file_does_not_stand_beside_a_new_table(tmp_path, monkeypatch):
    (tmp_path / "results.parquet").write_bytes(b"of other rows")
    monkeypatch.setattr(Table, "_parquet", lambda self: None)

    assert [file.name for file in table().write(tmp_path)] == ["results.csv"]
    assert not (tmp_path / "results.parquet").exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"y": 1, "z": None, "t": True, "nan": math.nan}, ""),
        (None, "a dictionary of numbers; got None"),
        ({}, "got {}"),
        ([1], "got [1]"),
        ({"y": "1"}, "a number for y; got '1'"),
        ({"y": [1]}, "a number for y; got [1]"),
        ({"x": 1}, "got 'x'"),
        ({"error": 1}, "got 'error'"),
        ({"y": "long " * 1000}, "got 'long long"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_result_is_a_dictionary_of_numbers(value, said):
    found = fault(value, {"x": 0})

    assert said in found
    assert bool(said) == bool(found)
    assert len(found) < 250
