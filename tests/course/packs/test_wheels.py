import base64
import csv
import hashlib
import io
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from tests.course.packs.stand_ins import LINUX, PURE, USUAL, stand_ins

from headwright.course.packs import wheels
from headwright.course.packs.wheel_file import Wheel, written
from headwright.errors import InputError


def names(found):
    return sorted(wheel.name for wheel in found)


def test_only_what_judging_needs_is_taken_with_what_that_needs(tmp_path):
    found = wheels.in_folder(stand_ins(tmp_path))

    assert names(found) == sorted(set(USUAL) - {"jax", "torch"})


def test_a_pack_without_pypdf_is_possible(tmp_path):
    without = {name: tag for name, tag in USUAL.items() if name != "pypdf"}
    assert "pypdf" not in names(wheels.in_folder(stand_ins(tmp_path, without)))


@pytest.mark.parametrize("missing", wheels.NEEDED)
def test_a_missing_wheel_is_named(tmp_path, missing):
    others = {name: tag for name, tag in USUAL.items() if name != missing}
    with pytest.raises(InputError, match=f"a wheel of {missing}.*pip download"):
        wheels.in_folder(stand_ins(tmp_path, others))


def test_wheels_for_several_pythons(tmp_path):
    stand_ins(tmp_path)
    stand_ins(tmp_path, {"numpy": LINUX.replace("311", "312")})
    found = wheels.in_folder(tmp_path)

    assert wheels.pythons(found) == ["3.11", "3.12"]


def test_wheels_for_no_common_python_are_refused(tmp_path):
    other = {**USUAL, "psutil": LINUX.replace("311", "312")}
    with pytest.raises(InputError, match=r"numpy for 3\.11, psutil for 3\.12"):
        wheels.pythons(wheels.in_folder(stand_ins(tmp_path, other)))


@pytest.mark.parametrize(
    "system", ["macosx_14_0_arm64", "win_amd64", "manylinux_2_28_aarch64", "musllinux_1_2_x86_64"]
)
def test_wheels_of_another_system_are_refused(system):
    with pytest.raises(InputError, match=f"numpy for {system}"):
        wheels.refuse_other_systems([Wheel(f"numpy-1.0-cp311-cp311-{system}.whl", b"")])


@pytest.mark.parametrize(
    "system", ["any", "linux_x86_64", "manylinux2014_x86_64.manylinux_2_17_x86_64"]
)
def test_wheels_of_the_platforms_are_taken(system):
    wheels.refuse_other_systems([Wheel(f"numpy-1.0-cp311-cp311-{system}.whl", b"")])


@pytest.mark.parametrize("name", ["nothing", "."])
def test_a_folder_without_wheels_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="folder with wheels"):
        wheels.in_folder(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all"])
def test_a_damaged_wheel_is_named(tmp_path, content):
    stand_ins(tmp_path)
    (tmp_path / f"numpy-1.0-{LINUX}.whl").write_bytes(content)
    with pytest.raises(InputError, match=r"numpy.*damaged"):
        wheels.in_folder(tmp_path)


def test_an_installed_package_becomes_the_wheel_it_came_from():
    """Every file as it is installed, and a record that an installer can check."""
    (wheel,) = wheels._installed("jaxtyping")
    here = metadata.distribution("jaxtyping")

    with zipfile.ZipFile(io.BytesIO(wheel.data)) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    record = next(name for name in inside if name.endswith("/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(inside[record].decode().splitlines())}
    assert set(rows) == set(inside)
    for name, data in inside.items():
        if name == record:
            continue
        assert Path(str(here.locate_file(name))).read_bytes() == data
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert rows[name] == [f"sha256={digest}", str(len(data))]
    assert "jaxtyping/__init__.py" in inside
    assert wheel.version == here.version


def test_our_own_wheel_has_the_programs_of_the_platforms():
    wheel = wheels.own_wheel()

    with zipfile.ZipFile(io.BytesIO(wheel.data)) as archive:
        inside = archive.namelist()
    assert "headwright/course/packs/grader.py" in inside
    assert "headwright/exercise/bank.toml" in inside
    assert not [name for name in inside if "__pycache__" in name]
    assert wheel == wheels.own_wheel()


def test_tags_are_joined_as_file_names_have_them():
    tags = ["cp311-cp311-manylinux_2_27_x86_64", "cp311-cp311-manylinux_2_28_x86_64"]
    wheel = written("a", "1.0", tags, {})

    assert wheel.file == "a-1.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    assert wheel.pythons == ("3.11",)
    assert Wheel(f"a-1.0-{PURE}.whl", b"").pythons == ()
