"""Tables as spreadsheets, pandas and NumPy write them, hostile ones, standard input, tensors."""

import io
import json
import sys

import numpy as np
import pytest

from headwright.errors import InputError
from headwright.files import read_array

K = np.array([[1.0, 2.0], [3.0, 4.5]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", "1,2\n3,4.5\n"),
        ("header.csv", "x,y\n1,2\n3,4.5\n"),
        ("pandas.csv", ",0,1\n0,1.0,2.0\n1,3.0,4.5\n"),
        ("index.csv", "index,x,y\n10,1,2\n11,3,4.5\n"),
        ("labels.csv", "key,x,y\ncat,1,2\ndog,3,4.5\n"),
        ("bare_labels.csv", "cat,1,2\ndog,3,4.5\n"),
        ("semicolons.csv", "x;y\n1;2\n3;4,5\n"),
        ("windows.csv", "\ufeffx,y\r\n1,2\r\n\r\n3,4.5\r\n"),
        ("quoted.csv", '"x","y"\n"1","2"\n"3","4.5"\n'),
        ("tabs.tsv", "1\t2\n3\t4.5\n"),
        ("blanks.txt", "# x y\n  1 2\n3   4.5"),
        ("commas.txt", "1, 2\n3, 4.5\n"),
    ],
)
def test_tables_as_programs_write_them(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")

    np.testing.assert_array_equal(read_array(tmp_path / name), K)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "numbers in x.csv; got an empty table"),
        ("\ufeff\r\n\r\n", "an empty table"),
        ("x,y\n", "a header alone, in line 1"),
        ("1,2\n\n3\n", "rectangular table in x.csv: 2 cells, as in line 1; got 1 in line 3"),
        ("x,y\n1,2\n3,nan\n", "finite number in x.csv, line 3, column 2; got 'nan'"),
        ("1,2\r\n3,-inf\r\n", "line 2, column 2"),
        ("1,2\n3,four\n", "a number in x.csv, line 2, column 2; got 'four'"),
        ("1,2\n3,\n", "line 2, column 2; got an empty cell"),
        (",x,y\na,1,2\nb,3,o\n", "line 3, column 3"),
        ("1.O,2.O\n3,4\n", "line 1, column 1"),
        ("\u22121,\u22122\n3,4\n", "line 1, column 1"),
        ("1,2\n\x00,4\n", "x.csv"),
    ],
)
def test_hostile_tables_are_refused_with_the_place(tmp_path, text, says):
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8", newline="")

    with pytest.raises(InputError) as refused:
        read_array(path)
    assert says in str(refused.value)


def npy():
    out = io.BytesIO()
    np.save(out, K)
    return out.getvalue()


@pytest.mark.parametrize("data", [npy(), json.dumps(K.tolist()).encode(), b"x;y\n1;2\n3;4,5\n"])
def test_standard_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    np.testing.assert_array_equal(read_array("-"), K)
    with pytest.raises(InputError, match="got nothing"):
        read_array("-")


class Evil:
    def __reduce__(self):
        return print, ("code ran",)


class TestTensors:
    torch = pytest.importorskip("torch")

    def test_tensors_are_read(self, tmp_path):
        self.torch.save(self.torch.tensor(K, dtype=self.torch.bfloat16), tmp_path / "k.pt")
        self.torch.save({"K": self.torch.tensor(K), "V": self.torch.ones(2)}, tmp_path / "two.pt")

        np.testing.assert_array_equal(read_array(tmp_path / "k.pt"), K)
        np.testing.assert_array_equal(read_array(f"{tmp_path / 'two.pt'}:K"), K)

    def test_no_code_runs(self, tmp_path, capsys):
        self.torch.save(Evil(), tmp_path / "evil.pt")

        with pytest.raises(InputError, match="never run"):
            read_array(tmp_path / "evil.pt")
        assert "code ran" not in capsys.readouterr().out

    def test_a_view_asks_for_no_more_memory_than_its_file(self, tmp_path):
        self.torch.save(self.torch.ones(1).expand(10**6, 10**6), tmp_path / "view.pt")

        with pytest.raises(InputError, match="numbers in a file of"):
            read_array(tmp_path / "view.pt")
