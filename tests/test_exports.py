"""The public face: every name resolves, nothing heavy comes with it, nothing else leaks out."""

import subprocess
import sys
from importlib.resources import files

import pytest

import headwright as hw


@pytest.mark.parametrize("name", hw.__all__)
def test_every_public_name_resolves(name):
    if name == "audit":
        pytest.importorskip("torch", reason="the models extra is not installed")
    if name == "lab":
        pytest.importorskip("starlette", reason="the lab extra is not installed")
    assert getattr(hw, name) is not None


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'attention_is_all'"):
        hw.attention_is_all  # noqa: B018


def test_import_needs_no_array_library_but_numpy():
    heavy = "{'scipy', 'torch', 'matplotlib'}"
    script = (
        f"import sys, headwright; print(sorted({{m.split('.')[0] for m in sys.modules}} & {heavy}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_errors_are_public_and_one_family():
    with pytest.raises(hw.InputError, match=r"wanted .*; got .*; try: ") as caught:
        hw.attend([1.0], [[1.0, 0.0]], [[1.0]])
    assert isinstance(caught.value, hw.HeadwrightError)
    assert caught.value.wanted


def test_type_checkers_are_told_to_read_the_annotations():
    assert (files("headwright") / "py.typed").is_file()
