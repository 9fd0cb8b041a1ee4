"""The documentation is whole: every public name and command has a page, every link leads somewhere.
That its examples do what they say is tested in `tests/docs`."""

import re
from pathlib import Path

import pytest

import headwright as hw
from headwright.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "headwright"
OF_THE_PROJECT = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
PAGES = [*(ROOT / name for name in OF_THE_PROJECT), *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_public_name_and_command_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in hw.__all__:
        assert f"hw.{name}" in text, name
    for name in COMMANDS:
        assert f"headwright {name}" in text, name


@pytest.mark.parametrize("document", PAGES, ids=lambda document: str(document.relative_to(ROOT)))
def test_links_and_pictures_exist(document):
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (document.parent / target).exists(), target


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) < 50


def test_contributing_maps_what_people_will_change_to_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]*`[^|]*) \|$", text.partition("|---|")[2], re.M)
    assert len(rows) >= 20

    for change, places in rows:
        for place in re.findall(r"`([^`]+)`", places):
            there = (PACKAGE / place).exists() or (ROOT / place).exists()
            assert there, f"to {change}: no {place}"


def test_contributing_names_only_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(tests/[\w/]+\.py|pyproject\.toml)`", text):
        assert (ROOT / name).is_file(), name
