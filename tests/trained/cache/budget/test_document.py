"""A plan as a file: identical when it comes back, refused when it is none."""

import json

import numpy as np
import pytest

pytest.importorskip("transformers", reason="needs the extra 'models'")

from tests.trained.cache.language_models import random_llama, random_texts

from headwright.errors import InputError
from headwright.trained.cache import PlannedCache
from headwright.trained.cache.budget.document import read_plan, write_plan
from headwright.trained.cache.budgeting import cache_plan


@pytest.fixture(scope="module")
def plan():
    return cache_plan(
        random_llama(), random_texts(), bits=3, per="direction", values=True, keep_first=1
    )


def test_a_plan_comes_back_to_the_last_digit(plan, tmp_path):
    path = write_plan(tmp_path / "plan.json", plan)
    back = read_plan(path)

    assert back.plain() == plan.plain()
    assert back.request == plan.request
    for mine, other in zip(plan.grids, back.grids, strict=True):
        for name in ("bits", "low", "high", "base", "damage"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))
        np.testing.assert_array_equal(mine.basis.codes, other.basis.codes)
    for name in ("pairs", "speeds"):
        mine, other = (getattr(one.turning.rotation, name) for one in (plan, back))
        np.testing.assert_array_equal(mine, other)
    assert PlannedCache(path).plan.plain() == plan.plain()


def test_a_plan_of_channels_has_no_basis(tmp_path):
    plan = cache_plan(random_llama(), random_texts(), bits=3)
    back = read_plan(write_plan(tmp_path / "plan.json", plan))
    assert [grid.basis for grid in back.grids] == [None, None]
    assert back.plain() == plan.plain()


def test_a_plan_from_a_file_makes_no_other_plans(plan, tmp_path):
    back = read_plan(write_plan(tmp_path / "plan.json", plan))
    with pytest.raises(InputError, match="read from a file"):
        back.uniform()


def _without(document, *path):
    inner = document
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]


def _put(document, value, *path):
    inner = document
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: _without(d, "kind"),
        lambda d: _without(d, "request", "per"),
        lambda d: _without(d, "layers", 0, "keys"),
        lambda d: _put(d, [], "layers"),
        lambda d: _put(d, "row", "request", "per"),
        lambda d: _put(d, 99, "layers", 0, "keys", "bits", 0, 0),
        lambda d: _put(d, -1, "layers", 0, "keys", "bits", 0, 0),
        lambda d: _put(d, 2.5, "layers", 0, "keys", "bits", 0, 0),
        lambda d: _put(d, [1], "layers", 0, "keys", "bits", 0),
        lambda d: _put(d, "nan", "layers", 0, "values", "low", 0, 0),
        lambda d: _put(d, 1e9, "layers", 0, "keys", "low", 0, 0),
        lambda d: _put(d, -1, "request", "keep_first"),
        lambda d: _without(d, "rotation"),
        lambda d: _put(d, 99, "rotation", "pairs", 0, 1),
        lambda d: _put(d, 0, "rotation", "pairs", 0, 1),
        lambda d: _put(d, [], "rotation", "pairs"),
        lambda d: _put(d, "inf", "rotation", "speeds", 0),
        lambda d: _without(d, "layers", 0, "keys", "basis"),
        lambda d: _put(d, [[1]], "layers", 0, "keys", "basis"),
        lambda d: _put(d, 0.5, "layers", 0, "keys", "basis", 0, 0, 0),
        lambda d: _put(d, 40_000, "layers", 0, "keys", "basis", 0, 0, 0),
        lambda d: _put(d, [[0] * 8] * 8, "layers", 0, "keys", "basis", 0),
        lambda d: _put(d, [[7] * 8] * 8, "layers", 0, "keys", "basis", 0),
    ],
)
def test_what_is_no_plan_is_refused(plan, tmp_path, spoil):
    path = write_plan(tmp_path / "plan.json", plan)
    document = json.loads(path.read_text())
    spoil(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InputError):
        read_plan(path)


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", "[" * 100_000, "\x00"])
def test_hostile_files_are_refused(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(InputError, match="cache plan"):
        read_plan(path)
    with pytest.raises(InputError, match="cache plan"):
        PlannedCache(tmp_path / "none.json")
