"""The static copy: the same page from any server, with the engine's buttons greyed and the reason
beside them."""

import json
import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import tolerances

from headwright.cli.lab import command
from headwright.lab.export import export


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    export(folder)
    return folder


@pytest.fixture
def served(copy, static):
    """The copy under a folder of its own, as pages are on most hosts."""
    return f"{static(copy.parent)}{copy.name}/"


def test_the_copy_is_complete(copy):
    names = {str(f.relative_to(copy)) for f in copy.rglob("*") if f.is_file()}
    assert {
        "index.html",
        "check.html",
        "cards.html",
        "js/main.js",
        "css/roles.css",
        "data/site.json",
    } <= names
    assert sum(name.startswith("stations/") for name in names) == 14
    assert json.loads((copy / "data" / "site.json").read_text())["engine"] is False


def test_the_command_says_what_it_wrote(tmp_path):
    done = CliRunner().invoke(command, ["--export", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["files"] == sum(f.is_file() for f in (tmp_path / "out").rglob("*"))


def test_a_taken_folder_name_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("x")
    done = CliRunner().invoke(command, ["--export", str(tmp_path / "file")])
    assert done.exit_code == 2


@pytest.mark.browser
def test_the_copy_works_without_an_engine(open_page, served):
    page = open_page("#preset=heads", base=served)
    assert page.locator("#design-go").is_disabled()
    assert "static copy" in page.locator("#design-go").get_attribute("title")
    assert page.locator("text=This is a static copy").count() >= 1
    page.wait_for_selector("#exact-table td")
    page.locator("#beta").fill("1.5")
    assert "2000 draws" in page.locator("#values-reading").inner_text()
    page.locator("#dots li:nth-child(4) a").click()
    page.wait_for_function(
        "() => document.getElementById('station-title').textContent.startsWith('Getting')"
    )
    checks = open_page("check.html", base=served)
    assert checks.locator("#judge").is_disabled()
    open_page("cards.html", base=served)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["index.html", "check.html", "cards.html"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_opened_by_double_click_says_how_to_open_it(chromium, copy, name, width):
    page = chromium.new_page(viewport={"width": width, "height": 860})
    page.goto((copy / name).as_uri())
    assert page.locator(".as-file").is_visible()
    said = page.locator("body").inner_text()
    assert "python -m http.server" in said
    assert "headwright lab" in said
    assert not page.locator("main").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.browser
def test_a_page_from_a_server_does_not(open_page, served):
    page = open_page("index.html", base=served)
    assert not page.locator(".as-file").is_visible()
    assert page.locator("main").is_visible()


def test_the_guide_tells_the_size(copy):
    guide = Path(__file__).parents[2] / "docs" / "guides" / "lab.md"
    said = re.search(r"(\d+) files, (\d+) KB in site", guide.read_text(encoding="utf-8"))
    files = [f for f in copy.rglob("*") if f.is_file()]
    assert int(said[1]) == len(files)
    assert int(said[2]) == pytest.approx(
        sum(f.stat().st_size for f in files) / 1024, rel=tolerances.PAGE_WEIGHT
    )


def test_a_taken_port_is_bad_input():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = CliRunner().invoke(command, ["--no-browser", "--port", str(taken.getsockname()[1])])
    assert done.exit_code == 2
    assert "try: another --port" in done.stderr
