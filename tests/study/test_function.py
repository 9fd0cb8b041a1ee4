"""What may be called: a function that another process finds, with the grid's parameters."""

import sys

import pytest
from tests.study import jobs

from headwright.errors import InputError
from headwright.study.function import function_of


def test_a_function_and_its_name_are_the_same():
    by_name = function_of("tests.study.jobs:product")

    assert by_name.call is jobs.product
    assert function_of(jobs.product) == by_name
    assert by_name.summary == "What two numbers make together."
    assert by_name.version == ""


def test_modules_of_the_working_directory_are_found(tmp_path, monkeypatch):
    (tmp_path / "of_this_folder.py").write_text("VERSION = 3\ndef f(x): return {'y': x}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    assert function_of("of_this_folder:f").version == "3"
    sys.modules.pop("of_this_folder")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("jobs", "'jobs'"),
        (":product", "':product'"),
        ("tests.study.jobs:", "'tests.study.jobs:'"),
        ("tests study:product", "'tests study:product'"),
        ("tests.study.jobs:gone", "no attribute 'gone'"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("tests.study.jobs:NO_FUNCTION", "got int"),
    ],
)
def test_names_that_lead_nowhere(name, said):
    with pytest.raises(InputError) as refused:
        function_of(name)
    assert said in str(refused.value)


def test_functions_that_no_other_process_can_import(monkeypatch):
    def inner(x):
        return {"y": x}

    def of_a_script(x):
        return {"y": x}

    of_a_script.__module__ = "__main__"
    of_a_script.__qualname__ = "of_a_script"
    monkeypatch.setattr(sys.modules["__main__"], "of_a_script", of_a_script, raising=False)

    for function in (inner, lambda x: {"y": x}, of_a_script):
        with pytest.raises(InputError, match=r"other processes can import.*sweep\.py"):
            function_of(function)


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (jobs.product, ["x", "z"], "z, which it does not take by name"),
        (jobs.product, ["y"], "no x, which it needs"),
        (jobs.by_position, ["x"], "no x by position, which it needs"),
    ],
)
def test_parameters_that_do_not_fit_are_said_before_anything_runs(function, given, said):
    with pytest.raises(InputError) as refused:
        function_of(function).insist_on_parameters(given)
    assert said in str(refused.value)


def test_parameters_that_fit():
    function_of(jobs.product).insist_on_parameters(["x"])
    function_of(jobs.product).insist_on_parameters(["y", "x"])
    function_of(jobs.anything).insist_on_parameters(["whatever", "it", "takes"])
