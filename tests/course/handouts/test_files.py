"""File names, codes and folders of sheets."""

import pytest

from headwright.course.handouts.folder import is_written, write_folder
from headwright.course.handouts.marker import marker, marker_in
from headwright.course.handouts.names import file_names
from headwright.errors import InputError


def test_a_plain_id_is_its_own_file_name():
    assert file_names(["u1", "2024-17"]) == {"u1": "u1", "2024-17": "2024-17"}


def test_hostile_ids_get_safe_names_and_no_two_the_same():
    ids = ["../../etc", "etc", "a/b", "a-b", "a.b", "A-B", "..", "/", "CON", "ü", "é", "x" * 300]
    names = file_names(ids)

    lowered = [name.lower() for name in names.values()]
    assert len(set(lowered)) == len(ids)
    for name in names.values():
        assert name.strip("-.")
        assert not set(name) & set('/\\.:*?"<>|\n')
        assert len(name) < 100
    assert names["CON"] != "CON"


def test_a_name_does_not_depend_on_the_rest_of_the_class_unless_they_collide():
    assert file_names(["a/b"])["a/b"] == file_names(["a/b", "z"])["a/b"]


def test_a_code_names_course_and_student():
    code = marker("0123456789abcdef", "u1")

    assert marker_in(f"text {code} text") == code
    assert code.course == "01234567"
    assert code.student != marker("0123456789abcdef", "u2").student
    assert marker_in("nothing") is None
    assert marker_in(f"{code} {marker('0123456789abcdef', 'u2')}") is None


def test_a_folder_is_there_as_a_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "new" / "out"
    files = {"sheets/a.md": b"1", "manifest.json": b"2"}
    assert not is_written(folder, files)
    write_folder(folder, files)
    assert is_written(folder, files)
    assert [path.name for path in folder.parent.iterdir()] == ["out"]

    with pytest.raises(InputError, match="an empty folder, or the same sheets"):
        is_written(folder, {**files, "sheets/a.md": b"3"})
    with pytest.raises(InputError, match="is a file"):
        is_written(folder / "manifest.json", files)


def test_an_interrupted_write_leaves_nothing(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()

    with pytest.raises(TypeError):
        write_folder(folder, {"a.md": b"1", "b.md": None})
    assert list(tmp_path.iterdir()) == [folder]
    assert not any(folder.iterdir())
