"""The list of deliberate faults fits the source: each can be planted, and its tests exist. Whether
the tests notice them is what `benchmarks/plant_faults.py` finds out."""

import ast

import pytest
from benchmarks import plant_faults

FAULTS = plant_faults.read_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_can_be_planted(fault):
    source = (plant_faults.ROOT / fault.file).read_text(encoding="utf-8")
    damaged = plant_faults.planted(fault, source)

    assert damaged != source
    if fault.file.endswith(".py"):
        ast.parse(damaged)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_of_each_fault_exist(fault):
    assert fault.tests
    for test in fault.tests:
        assert (plant_faults.ROOT / test.partition("::")[0]).is_file()


def test_names_are_unique():
    names = [fault.name for fault in FAULTS]

    assert len(set(names)) == len(names)


def test_a_list_that_no_longer_fits_is_an_error():
    fault = plant_faults.Fault(
        "moved away", "README.md", find="x", plant="y", tests=["tests/test_faults.py"]
    )

    with pytest.raises(ValueError, match="stands 2 times"):
        plant_faults.planted(fault, "x and x")
