"""How the site is put together: links move with their pages, nobody's files are overwritten, and
what is missing is said in one line."""

import json
import sys
from pathlib import PurePosixPath
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from docutils import nodes

from headwright.cli import app, docs
from headwright.errors import HeadwrightError, MissingExtra
from headwright.site import building, formulas
from headwright.site.navigation import sections
from headwright.site.pages import moved_links, places, write_pages
from headwright.site.writing import with_doors

CELLS = [
    {"cell_type": "markdown", "source": ["# N\n", "[b](b.md), [self](n.ipynb)"]},
    {
        "cell_type": "code",
        "source": "print(1)\nfigure",
        "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"image/png": "iVBO\n", "text/plain": "f"}},
        ],
    },
]


@pytest.fixture
def tree(tmp_path):
    """A source tree of three pages and a picture."""
    files = {
        "README.md": "# A\n\n![p](docs/p.png)\n\n[guide](docs/guides/b.md#place)\n",
        "docs/README.md": "[two](guides/c.md), [one](guides/b.md), [home](../README.md)\n",
        "docs/guides/b.md": "[up](../README.md) [site](https://example.org/README.md)\n",
        "docs/guides/c.md": "<!-- clone only -->\nhidden\n<!-- end of clone only -->\nshown\n",
        "docs/guides/n.ipynb": json.dumps({"cells": CELLS}),
        "docs/p.png": "",
        "CONTRIBUTING.md": "",
        "SECURITY.md": "",
        "CHANGELOG.md": "",
        "CITATION.cff": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_links_move_with_their_pages(tree, tmp_path):
    write_pages(tree, tmp_path / "site", places(tree))
    text = {name: (tmp_path / "site" / name).read_text() for name in ("index.md", "overview.md")}

    assert text["index.md"] == "# A\n\n![p](p.png)\n\n[guide](guides/b.md#place)\n"
    assert text["overview.md"] == "[two](guides/c.md), [one](guides/b.md), [home](index.md)\n"
    assert (tmp_path / "site" / "guides" / "c.md").read_text() == "shown\n"


def test_a_notebook_is_a_page_and_a_file(tree, tmp_path):
    write_pages(tree, tmp_path / "site", places(tree))
    page = (tmp_path / "site" / "guides" / "n.md").read_text()

    assert page.startswith("# N\n[b](b.md), [self](n.md)\n")
    assert "````python\nprint(1)\nfigure\n````\n\n````text\n1\n````" in page
    assert "(data:image/png;base64,iVBO)" in page
    assert page.endswith("[download it](n.ipynb).\n")
    assert json.loads((tmp_path / "site" / "guides" / "n.ipynb").read_text())["cells"] == CELLS


def test_links_out_of_the_tree_stay(tree):
    page = PurePosixPath("docs/guides/b.md")
    text = (tree / page).read_text()

    expected = "[up](../overview.md) [site](https://example.org/README.md)\n"
    assert moved_links(text, page, places(tree)) == expected


def test_pages_stand_in_the_order_of_the_overview(tree):
    overview = (tree / "docs" / "README.md").read_text()

    found = sections(places(tree), overview)["guides"]
    assert [page.name for page in found] == ["c.md", "b.md", "n.md"]


def test_a_tour_that_fails_is_no_page(tmp_path):
    with pytest.raises(HeadwrightError, match="did not finish: no disk"):
        building._take_tour(2, "no disk\n", tmp_path, tmp_path)


@pytest.mark.parametrize("with_tour", [True, False])
def test_the_front_page_has_doors_below_its_picture(with_tour):
    front = with_doors("# A\n\n![p](p.png)\n\nMore.\n", with_tour=with_tour)

    assert front.index("p.png") < front.index("lab/index.html") < front.index("More.")
    assert ("tour/report.html" in front) == with_tour


def _say(*words):
    return CliRunner(catch_exceptions=False).invoke(app, ["docs", "--no-browser", *words])


def test_files_of_others_are_not_overwritten(tmp_path):
    # Any site that Sphinx made has an index: that alone does not make it ours.
    (tmp_path / "searchindex.js").write_text("mine")
    result = _say("--out", str(tmp_path))

    assert result.exit_code == 2
    assert "with other files in it; try: --out" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["searchindex.js"]


def test_an_installed_package_says_where_the_pages_are(tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "_ROOT", tmp_path)
    result = _say("--out", str(tmp_path / "site"))

    assert result.exit_code == 2
    assert "wanted the source tree" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_extra_is_answered_with_the_line_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "furo", None)
    monkeypatch.delitem(sys.modules, "headwright.site.building")
    result = _say("--out", str(tmp_path / "site"))

    assert result.exit_code == 2
    assert str(MissingExtra("furo", "docs")) in result.stderr
    assert not list(tmp_path.iterdir())


def test_formulas_are_drawn_inside_the_page():
    page = SimpleNamespace(body=[])
    with pytest.raises(nodes.SkipNode):
        formulas._inline(page, nodes.math("", r"\alpha_i"))

    assert page.body[0].startswith("<svg ")
    assert r'aria-label="\alpha_i"' in page.body[0]
