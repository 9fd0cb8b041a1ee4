"""From a grid and a function to files, through real processes; the same files whatever happened on
the way."""

import csv
import json

import pytest
from click.testing import CliRunner
from tests.study import jobs

import headwright as hw
from headwright.cli.study import command
from headwright.crew import run as crew_run
from headwright.crew.executor import chosen
from headwright.crew.store import opened
from headwright.errors import InputError
from headwright.study.asked import study_of
from headwright.study.built_in import built_in_studies


@pytest.fixture(scope="module")
def executor():
    """One process for all tests here: starting it takes longer than what it does."""
    with chosen(workers=1) as ready:
        yield ready


def written(folder):
    files = ["results.csv", "index.html", "results.parquet"]
    return {name: (folder / name).read_bytes() for name in files}


def test_rows_are_the_functions_own_in_the_grids_order(tmp_path, executor):
    grid = {"x": [3, 1], "y": {"from": 0.5, "to": 1.5, "step": 0.5}}
    result = hw.study.run(jobs.product, grid, out=tmp_path, executor=executor)

    wanted = [{"x": x, "y": y, **jobs.product(x, y)} for x in (3, 1) for y in (0.5, 1.0, 1.5)]
    assert result.rows == wanted
    assert (result.done, result.skipped, result.failed) == (6, 0, 0)
    assert [path.name for path in result.figures] == ["product.svg", "large.svg"]
    assert all(path.is_file() for path in result.figures)
    assert result.to_pandas()["product"].tolist() == [row["product"] for row in wanted]
    assert "6 rows: 6 computed" in result._repr_html_()
    assert result.plot().axes[0].get_ylabel() == "product"
    assert result.plot("large").axes[0].get_ylabel() == "large"
    with pytest.raises(InputError, match=r"\(product, large\); got 'leak'"):
        result.plot("leak")

    csv = (tmp_path / "results.csv").read_text()
    assert csv.splitlines()[:2] == ["x,y,product,large", "3,0.5,1.5,1"]


def test_a_study_that_was_interrupted_ends_as_one_that_was_not(tmp_path, executor):
    """Some points are there already, of another grid and in another order."""
    straight = tmp_path / "straight"
    resumed = tmp_path / "resumed"
    grid = {"x": {"from": 0, "to": 9, "step": 1}}
    hw.study.run(jobs.uneven, grid, out=straight, executor=executor)

    hw.study.run(jobs.uneven, {"x": [7, 4, 40]}, out=resumed, executor=executor)
    first = hw.study.run(jobs.uneven, grid, out=resumed, executor=executor, limit=5)
    last = hw.study.run(jobs.uneven, grid, out=resumed, executor=executor)

    assert (first.done, first.skipped, len(first.rows)) == (4, 1, 5)
    assert (last.done, last.skipped, len(last.rows)) == (4, 6, 10)
    assert written(resumed) == written(straight)
    assert list(last.rows[0]) == ["x", "even", "odd", "zeros"]


def test_a_point_that_raises_fails_alone_and_is_computed_again_on_request(tmp_path, executor):
    def run(**options):
        mending = {"x": [1, 2, 3], "file": str(tmp_path / "mended")}
        return hw.study.run(jobs.mended, mending, out=tmp_path / "a", executor=executor, **options)

    first = run()
    assert (first.done, first.failed) == (2, 1)
    assert run().rows[1]["half"] is None
    assert run().rows[1]["error"].startswith("FileNotFoundError: ")
    assert "FileNotFoundError" in (tmp_path / "a" / "index.html").read_text()

    (tmp_path / "mended").touch()
    assert run().failed == 1
    mended = run(retry=True)
    assert (mended.done, mended.skipped, mended.failed) == (1, 2, 0)
    assert list(mended.rows[1]) == ["x", "file", "half"]


def test_what_is_no_number_fails_and_the_store_knows(tmp_path, executor):
    def run(**options):
        grid = {"x": {"from": 0, "to": 8, "step": 1}}
        return hw.study.run(jobs.not_numbers, grid, out=tmp_path, executor=executor, **options)

    first = run()
    again = run()
    retried = run(retry=True)

    assert (first.done, first.failed) == (1, 8)
    assert (again.skipped, again.failed) == (1, 8)
    assert again.rows == first.rows == retried.rows
    assert "complex" in first.rows[7]["error"]
    with opened(tmp_path / "store", about={"study": "tests.study.jobs:not_numbers"}) as store:
        points = [{"x": x} for x in range(9)]
        kept = crew_run("tests.study.jobs:not_numbers", points, executor=executor, store=store)
        assert [bool(outcome.error) for outcome in kept] == [False] + [True] * 8


def test_the_folder_of_another_study_is_refused(tmp_path, executor):
    hw.study.run(jobs.product, {"x": [1]}, out=tmp_path, executor=executor)
    before = written(tmp_path)

    with pytest.raises(InputError, match=r"jobs:raising.*jobs:product.*another folder"):
        hw.study.run(jobs.raising, {"x": [1]}, out=tmp_path, executor=executor)
    assert written(tmp_path) == before


def test_everything_may_fail(tmp_path, executor):
    result = hw.study.run(jobs.raising, {"x": [2]}, out=tmp_path, executor=executor)

    assert result.figures == ()
    with pytest.raises(InputError, match="it has none"):
        result.plot()
    assert (tmp_path / "results.csv").read_text() == "x,error\n2,ValueError: no twos\n"


def test_what_python_is_told_about_options(tmp_path):
    with pytest.raises(InputError, match="limit"):
        hw.study.run(jobs.product, {"x": [1]}, out=tmp_path, limit=0)
    with pytest.raises(TypeError, match="retries"):
        hw.study.run(jobs.product, {"x": [1]}, out=tmp_path, retries=1)
    with pytest.raises(InputError, match="--grid"):
        hw.study.run(jobs.product, out=tmp_path)
    with pytest.raises(InputError, match="which it does not take"):
        hw.study.run(jobs.product, {"x": [1], "w": [2]}, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_folder_should_be(tmp_path, executor):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises((InputError, OSError), match="taken"):
        hw.study.run(jobs.product, {"x": [1]}, out=tmp_path / "taken", executor=executor)
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_unknown_study_is_told_which_there_are():
    with pytest.raises(InputError, match=r"module:function; got 'prise'"):
        study_of("prise")


def test_what_machines_read(tmp_path, executor):
    result = hw.study.run(jobs.product, {"x": [1, 2]}, out=tmp_path, executor=executor)
    data = json.loads(json.dumps(result.plain()))

    assert {name: data[name] for name in ("rows", "done", "skipped", "failed")} == {
        "rows": 2, "done": 2, "skipped": 0, "failed": 0,
    }  # fmt: skip
    assert data["figures"] == [str(path) for path in result.figures]


def test_an_edited_module_is_computed_anew_in_the_same_session(tmp_path, monkeypatch):
    file = tmp_path / "edited_between.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    values = []
    for factor in (2, 3):
        file.write_text(f"def f(x):\n    return {{'y': {factor} * x}}\n")
        result = hw.study.run("edited_between:f", {"x": [1]}, out=tmp_path / "out", workers=1)
        values.append(result.rows[0]["y"])

    assert values == [2, 3]


@pytest.mark.parametrize("name", built_in_studies())
def test_the_small_version_of_a_built_in_study(name, tmp_path):
    """As somebody runs it: seconds, every point there, every figure on the page."""
    if name == "trained":
        pytest.importorskip("torch", reason="needs the extra 'models'")
    words = [name, "--small", "--out", str(tmp_path), "--workers", "1", "--json"]
    told = CliRunner().invoke(command, words)

    assert told.exit_code == 0, told.stderr
    data = json.loads(told.stdout)
    assert data["rows"] == data["done"] == study_of(name, small=True).count
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == data["rows"]
    # Neither proved nor refuted: no set of keys, no pair of a head
    assert all(row["selectable"] if name == "price" else row["solved"] for row in rows)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == len(data["figures"]) >= 3
