"""The limits of the house, each with the names of those who break it. `headwright bench style`
shows the measures of every folder."""

import pytest
from benchmarks import style
from benchmarks.import_cycles import import_cycles, imports

FILES = style.sources()
BY_FILE = [style.LONG_LINES, style.PARALLEL, style.DENSITY, "longest file", "longest body"]


@pytest.mark.parametrize("measure", BY_FILE)
def test_the_package_keeps_its_measures(measure):
    number = style.measured(FILES)[measure]
    worst = "\n  ".join(style.worst_files(measure, FILES))

    assert number <= style.LIMITS[measure], f"{measure}: {number}; worst:\n  {worst}"


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
