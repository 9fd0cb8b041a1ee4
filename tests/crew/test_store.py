"""What was added is there, whatever happens to the process, the disk or the file."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas
import psutil
import pytest

from headwright.crew.store import disk, opened
from headwright.crew.store.record import Record
from headwright.crew.values import Keys
from headwright.errors import HeadwrightError, InputError

ABOUT = {"study": "a"}


def record(number, value="1", error=""):
    return Record(f"key{number}", "m:f", "1", f'{{"x":{number}}}', value, error, 0.5)


@pytest.fixture(params=["local", "shared"])
def folder(request, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "is_shared", lambda _: request.param == "shared")
    return tmp_path / "store"


def test_what_was_added_is_there(folder):
    with opened(folder, ABOUT) as store:
        store.add([record(1), record(2, None, "ValueError: no")])
        assert store.found(["key1", "key3"]) == {"key1": ("1", "")}
    with opened(folder, ABOUT) as store:
        assert store.found(["key1", "key2"]) == {
            "key1": ("1", ""),
            "key2": (None, "ValueError: no"),
        }


def test_only_what_failed_is_replaced(folder):
    with opened(folder, ABOUT) as store:
        store.add([record(1, None, "failed"), record(2, "2")])
        store.add([record(1, "7"), record(2, "3")])
    with opened(folder, ABOUT) as store:
        assert store.found(["key1", "key2"]) == {"key1": ("7", ""), "key2": ("2", "")}


def test_a_store_of_another_study_is_refused(folder):
    opened(folder, ABOUT).close()

    with pytest.raises(InputError, match=r'is about \{"study": "a"\}'):
        opened(folder, {"study": "b"})


def test_a_killed_driver_leaves_all_that_was_acknowledged(folder):
    """It is killed right after the second of its batches was acknowledged."""
    program = (
        "import os; from headwright.crew.store import disk, opened; "
        "from headwright.crew.store.record import Record; "
        f"disk.is_shared = lambda _: {disk.is_shared(folder)}; "
        f"store = opened({str(folder)!r}, {ABOUT!r}); "
        "row = lambda n: Record(f'key{n}', 'm:f', '1', '{}', str(n), '', 0.0); "
        "store.add([row(1), row(2)]); store.add([row(3)]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program], check=False, env=_environment())

    with opened(folder, ABOUT) as store:
        assert set(store.found(["key1", "key2", "key3"])) == {"key1", "key2", "key3"}


def _environment():
    source = Path(__file__).resolve().parents[2] / "src"
    return {**os.environ, "PYTHONPATH": str(source)}


def test_two_drivers_on_a_local_disk_are_refused(tmp_path):
    with opened(tmp_path, ABOUT), pytest.raises(InputError, match="another process is writing"):
        opened(tmp_path, ABOUT)
    opened(tmp_path, ABOUT).close()


def test_two_drivers_on_a_shared_disk_have_a_part_each(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "is_shared", lambda _: True)
    with opened(tmp_path, ABOUT) as one, opened(tmp_path, ABOUT) as other:
        one.add([record(1)])
        other.add([record(1), record(2)])
    with opened(tmp_path, ABOUT) as store:
        assert set(store.found(["key1", "key2"])) == {"key1", "key2"}
    assert len(list((tmp_path / "parts").iterdir())) == 2


def test_a_torn_last_line_was_never_acknowledged(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "is_shared", lambda _: True)
    with opened(tmp_path, ABOUT) as store:
        store.add([record(1), record(2)])
    (part,) = (tmp_path / "parts").iterdir()
    part.write_bytes(part.read_bytes()[:-3])

    with opened(tmp_path, ABOUT) as store:
        assert set(store.found(["key1", "key2"])) == {"key1"}
    part.write_bytes(b"{torn\n" + part.read_bytes())
    with pytest.raises(InputError, match="line 1 of"):
        opened(tmp_path, ABOUT)


def test_a_full_disk_keeps_what_was_there(tmp_path):
    with opened(tmp_path, ABOUT) as store:
        store.add([record(1)])
        store._table._connection.execute("PRAGMA max_page_count=4")
        with pytest.raises(HeadwrightError, match="free some space"):
            store.add(record(number, "x" * 9000) for number in range(2, 9))
        assert set(store.found([f"key{number}" for number in range(9)])) == {"key1"}


def test_a_full_shared_disk_leaves_no_half_line(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "is_shared", lambda _: True)
    with opened(tmp_path, ABOUT) as store:
        store.add([record(1)])

        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr("headwright.crew.store.parts.os.fsync", full)
            with pytest.raises(HeadwrightError, match="No space left"):
                store.add([record(2)])
        store.add([record(3)])
    with opened(tmp_path, ABOUT) as store:
        assert set(store.found(["key1", "key2", "key3"])) == {"key1", "key3"}


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_file_is_named(tmp_path, content):
    opened(tmp_path, ABOUT).close()
    (tmp_path / "results.sqlite").write_bytes(content)

    with pytest.raises(InputError, match=r"results\.sqlite"):
        opened(tmp_path, ABOUT)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match="a folder for a store"):
        opened(tmp_path / "file", ABOUT)


def test_a_damaged_about(tmp_path):
    (tmp_path / "about.json").write_text("{")

    with pytest.raises(InputError, match="nothing readable"):
        opened(tmp_path, ABOUT)


def test_others_read_it_while_it_is_written(tmp_path):
    with opened(tmp_path, ABOUT) as store:
        store.add([record(1), record(2)])
        reader = sqlite3.connect(tmp_path / "results.sqlite")
        table = pandas.read_sql("SELECT * FROM results", reader)
        reader.close()
        store.add([record(3)])

    assert list(table.columns) == list(Record._fields)
    assert [json.loads(point)["x"] for point in table["point"]] == [1, 2]


def test_the_deepest_mount_decides(tmp_path, monkeypatch):
    mounts = [
        psutil._ntuples.sdiskpart("/dev/a", "/", "ext4", "rw"),
        psutil._ntuples.sdiskpart("server:/b", str(tmp_path), "nfs4", "rw"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)

    assert disk.is_shared(tmp_path / "deep" / "er")
    assert not disk.is_shared(tmp_path.parent)


def test_keys_tell_functions_versions_and_points_apart():
    texts = [
        ("a", "bc", "{}"),
        ("ab", "c", "{}"),
        ("a", "bc", "[]"),
        ("a", "b", "{}"),
        ("", "", ""),
    ]

    assert len({Keys(function, version).of(point) for function, version, point in texts}) == 5
