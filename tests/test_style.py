"""The limits of the house, each with the names of those who break it. `headwright bench style`
shows the measures of every folder."""

import ast
from pathlib import Path

import pytest
from benchmarks import style
from benchmarks.import_cycles import import_cycles, imports

FILES = style.sources()
TESTS = Path(__file__).parent
BY_FILE = [style.LONG_LINES, style.PARALLEL, style.DENSITY, "longest file", "longest body"]


@pytest.fixture(scope="module")
def measures():
    return style.measured(FILES)


@pytest.mark.parametrize("measure", BY_FILE)
def test_the_package_keeps_its_measures(measures, measure):
    number = measures[measure]

    assert number <= style.LIMITS[measure], f"{measure}: {number}; worst:\n  {_worst(measure)}"


def _worst(measure):
    return "\n  ".join(style.worst_files(measure, FILES))


def test_no_folder_is_crowded():
    most = style.LIMITS[style.LARGEST_FOLDER]
    sizes = style.folder_sizes(FILES)
    crowded = [f"{folder.name}: {n} files" for folder, n in sizes.items() if n > most]

    assert not crowded, crowded


def test_no_import_cycle_of_any_kind():
    cycles = [" <-> ".join(group) for group in import_cycles(style.PACKAGE)]

    assert not cycles, "\n".join(cycles)


def test_a_cycle_through_a_function_or_for_types_alone_is_seen(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "roof.py").write_text("def hold():\n    from house import wall\n")
    (package / "wall.py").write_text("if TYPE_CHECKING:\n    from house.roof import hold\n")
    (package / "door.py").write_text("import house.wall\n")

    assert imports(package)["house.door"] == {"house.wall"}
    assert import_cycles(package) == [["house.roof", "house.wall"]]


def test_measures_count_what_they_say():
    text = '"""Says."""\n\nimport os\n\n# why\na, b = 1, 2\nc, d = os.pipe()\n' + "x" * 101 + "\n"
    file = style.Source(style.PACKAGE / "one.py", text)

    assert file.statements == 4
    assert file.parallel_assignments == 1
    assert file.long_lines == 1
    assert file.comment_lines == 1


def test_tolerances_that_two_tests_share_have_names():
    """What is left belongs to one comparison each; the number only falls."""
    bare = [place for path in TESTS.rglob("*.py") for place in _bare_tolerances(path)]

    assert len(bare) <= 20, "\n".join(sorted(bare))


def _bare_tolerances(path):
    """Numbers given as a tolerance, but for 0."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    given = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    for one in given:
        is_number = isinstance(one.value, ast.Constant) and one.value.value
        if one.arg in ("abs", "rel", "atol", "rtol") and is_number:
            yield f"{path.relative_to(TESTS)}: {one.arg}={one.value.value}"
