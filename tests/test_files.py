"""Arrays from files: every format, every way a file can be bad; writing is whole or not at all."""

import errno
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
import tracemalloc
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from headwright.errors import InputError
from headwright.files import (
    noting_writes,
    read_array,
    reading,
    write_bytes,
    write_json,
    write_text,
    writing,
)

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
        ("x.csv", b"1,two\n", "line 1, column 2"),
        ("x.csv", b"\xff\xfe\x00", "readable .csv"),
        ("x.safetensors", b"\xff" * 16, "readable .safetensors"),
        ("x.doc", b"1", "an array file"),
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


def npz(path, name, data, *, kind=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "a", kind) as archive:
        archive.writestr(f"{name}.npy", data)


def header(shape):
    """The first bytes of an array file that claims this shape, and nothing behind them."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": "<f8", "fortran_order": False, "shape": shape}
    )
    return out.getvalue()


def test_only_the_asked_array_of_an_archive_is_unpacked(tmp_path, monkeypatch):
    np.savez(tmp_path / "two.npz", K=K)
    npz(tmp_path / "two.npz", "bomb", header((10**6,)) + bytes(8 * 10**6))
    opened = []
    unpack = zipfile.ZipFile.open
    monkeypatch.setattr(
        zipfile.ZipFile,
        "open",
        lambda self, entry, *a: opened.append(entry) or unpack(self, entry, *a),
    )
    np.testing.assert_array_equal(read_array(f"{tmp_path / 'two.npz'}:K"), K)
    assert [entry.filename for entry in opened] == ["K.npy"]


def test_a_compressed_array_beyond_the_limit_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch
):
    npz(tmp_path / "bomb.npz", "K", header((10**6,)) + bytes(8 * 10**6))
    assert (tmp_path / "bomb.npz").stat().st_size < 10_000
    monkeypatch.setattr(reading, "MOST_UNPACKED", 10**6)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"once unpacked.*without compression"):
        read_array(tmp_path / "bomb.npz")
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    # What is stored as it is cannot be larger than its file, and needs no limit.
    np.savez(tmp_path / "plain.npz", K=np.ones(200_000))
    assert read_array(tmp_path / "plain.npz").shape == (200_000,)


@pytest.mark.parametrize(
    "kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, None], ids=["stored", "deflated", "npy"]
)
def test_a_header_is_not_believed_beyond_its_file(tmp_path, kind):
    file = tmp_path / ("liar.npy" if kind is None else "liar.npz")
    if kind is None:
        file.write_bytes(header((10**9,)) + bytes(800))
    else:
        npz(file, "K", header((10**9,)) + bytes(800), kind=kind)
    tracemalloc.start()
    with pytest.raises(InputError, match="a header that claims 8,000,000,000 bytes"):
        read_array(file)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_a_name_that_no_file_can_have(tmp_path):
    for name in ("a\0b.npy", "x" * 5000 + ".npy"):
        with pytest.raises(InputError, match="no file"):
            read_array(tmp_path / name)


@pytest.mark.skipif(os.name == "nt", reason="permissions, links and devices of Unix")
class TestWritingOnUnix:
    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_a_new_file_has_the_permissions_of_the_umask(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            path = write_bytes(tmp_path / "new", b"x")
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
    def test_an_old_file_keeps_its_permissions(self, tmp_path, mode):
        path = tmp_path / "old"
        path.write_bytes(b"old")
        path.chmod(mode)
        write_bytes(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert path.read_bytes() == b"new"

    def test_a_secret_is_never_readable_by_others_meanwhile(self, tmp_path, monkeypatch):
        path = tmp_path / "secret"
        path.write_bytes(b"old")
        path.chmod(0o600)
        seen = []
        sync = os.fsync
        monkeypatch.setattr(
            os, "fsync", lambda handle: seen.append(os.fstat(handle).st_mode) or sync(handle)
        )
        write_bytes(path, b"new")
        assert stat.S_IMODE(seen[0]) == 0o600

    def test_a_link_stays_and_its_target_is_written(self, tmp_path):
        (tmp_path / "there").mkdir()
        target = tmp_path / "there" / "target"
        target.write_bytes(b"old")
        link = tmp_path / "link"
        link.symlink_to(target)
        assert write_bytes(link, b"new") == link
        assert link.is_symlink()
        assert target.read_bytes() == b"new"
        dangling = tmp_path / "dangling"
        dangling.symlink_to(tmp_path / "there" / "not yet")
        write_bytes(dangling, b"made")
        assert dangling.is_symlink()
        assert (tmp_path / "there" / "not yet").read_bytes() == b"made"

    def test_links_in_a_circle_are_an_error(self, tmp_path):
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        with pytest.raises(OSError):
            write_bytes(tmp_path / "a", b"x")
        assert (tmp_path / "a").is_symlink()

    def test_a_pipe_is_written_to(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
        reader.start()
        write_bytes(pipe, b"through")
        reader.join(10)
        assert got == [b"through"]
        assert stat.S_ISFIFO(pipe.stat().st_mode)

    def test_devices_stay_devices(self):
        write_bytes("/dev/null", b"x")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        with pytest.raises(OSError, match=r"No space left on device.*/dev/full"):
            write_bytes("/dev/full", b"x" * 100)
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)

    def test_the_programs_own_output_is_a_place_to_write_to(self, tmp_path):
        out = tmp_path / "out"
        script = (
            "print('before'); from headwright.files import write_text;"
            "write_text('/dev/stdout', 'between\\n'); print('after')"
        )
        with out.open("wb") as stream:
            subprocess.run([sys.executable, "-c", script], stdout=stream, check=True)
        assert out.read_text() == "before\nbetween\nafter\n"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert done.stdout == "before\nbetween\nafter\n"

    def test_a_read_only_file_is_refused(self, tmp_path, monkeypatch):
        path = tmp_path / "kept"
        path.write_bytes(b"old")
        # Root may write anything, and tests may run as root
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(PermissionError, match="kept"):
            write_bytes(path, b"new")
        assert path.read_bytes() == b"old"


def test_contents_reach_the_disk_before_the_name(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: done.append("folder" if is_folder(handle) else "file") or sync(handle),
    )
    monkeypatch.setattr(os, "replace", lambda *names: done.append("rename") or replace(*names))
    write_bytes(tmp_path / "a", b"x")
    assert done == ["file", "rename", "folder"]


def is_folder(handle):
    return stat.S_ISDIR(os.fstat(handle).st_mode)


def test_errors_name_the_goal_and_leave_nothing(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        write_bytes(tmp_path, b"x")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(OSError, match="inside"):
        write_bytes(tmp_path / "file" / "inside", b"x")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*goal"):
        write_bytes(tmp_path / "goal", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_longest_name_can_be_written(tmp_path):
    name = "n" * 255
    assert write_bytes(tmp_path / name, b"x").read_bytes() == b"x"


def test_half_a_surrogate_pair_is_spelled_out(tmp_path):
    assert write_text(tmp_path / "a.txt", "a\udc80b").read_bytes() == b"a\\udc80b"
    assert json.loads(write_json(tmp_path / "a.json", {"x": "a\udc80b"}).read_text()) == {
        "x": "a\udc80b"
    }


def test_finished_files_are_noted(tmp_path):
    with noting_writes() as written:
        write_bytes(tmp_path / "a", b"x")
        with pytest.raises(OSError):
            write_bytes(tmp_path, b"x")
        write_text(tmp_path / "b", "x")
    write_text(tmp_path / "c", "x")
    assert written == [tmp_path / "a", tmp_path / "b"]


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_write_that_is_interrupted_after_the_rename_is_noted(tmp_path, monkeypatch, old):
    if old is not None:
        (tmp_path / "a").write_bytes(old)

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_sync_folder", interrupt)
    with noting_writes() as written, pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a", b"new")
    assert written == [tmp_path / "a"]
    monkeypatch.setattr(os, "replace", lambda *_: interrupt(None))
    with noting_writes() as written, pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a", b"newer")
    assert written == []
    assert (tmp_path / "a").read_bytes() == b"new"
