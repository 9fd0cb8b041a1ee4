"""Arrays from files: every format, every way a file can be bad; writing is whole or not at all."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from headwright.errors import InputError
from headwright.files import read_array, write_bytes, write_json

K = np.array([[1.0, 2.0], [3.0, 4.5]])


@pytest.fixture
def written(tmp_path):
    np.save(tmp_path / "k.npy", K)
    np.savez(tmp_path / "one.npz", K=K)
    np.savez(tmp_path / "two.npz", K=K, V=2 * K)
    np.savetxt(tmp_path / "k.csv", K, delimiter=",")
    (tmp_path / "k.json").write_text(json.dumps(K.tolist()))
    save_file({"K": K}, str(tmp_path / "k.safetensors"))
    return tmp_path


@pytest.mark.parametrize(
    "name", ["k.npy", "one.npz", "two.npz:K", "k.csv", "k.json", "k.safetensors", "k.safetensors:K"]
)
def test_every_format_reads_the_same(written, name):
    np.testing.assert_array_equal(read_array(written / name), K)


def test_a_row_of_csv_is_a_vector(tmp_path):
    (tmp_path / "q.csv").write_text("1,2,3\n")
    assert read_array(tmp_path / "q.csv").shape == (3,)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.npy", b"not numpy", "readable .npy"),
        ("x.json", b"[1, 2", "readable .json"),
        ("x.json", b'["a"]', "real numbers"),
        ("x.json", b"[[1, 2], [3]]", "rectangular"),
        ("x.json", b"[]", "empty"),
        ("x.json", b"[NaN]", "finite"),
        ("x.csv", b"1,2\n3\n", "rectangular"),
        ("x.csv", b"1,two\n", "readable .csv"),
        ("x.csv", b"\xff\xfe\x00", "readable .csv"),
        ("x.safetensors", b"\xff" * 16, "readable .safetensors"),
        ("x.txt", b"1", "an array file"),
    ],
)
def test_bad_files(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says):
        read_array(tmp_path / name)


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"readable \.npy"):
        read_array(tmp_path / "evil.npy")


def test_missing_file_and_missing_member(written):
    with pytest.raises(InputError, match="no file"):
        read_array(written / "none.npy")
    with pytest.raises(InputError, match="arrays: K, V"):
        read_array(written / "two.npz")
    with pytest.raises(InputError, match="called W"):
        read_array(f"{written / 'two.npz'}:W")


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    goal = write_bytes(tmp_path / "a.bin", b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(goal, b"new")
    assert goal.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_json_keeps_infinities_readable(tmp_path):
    path = write_json(tmp_path / "a.json", {"x": np.array([1.0, np.inf]), "y": np.float32(2)})
    assert json.loads(path.read_text()) == {"x": [1.0, "inf"], "y": 2.0}
