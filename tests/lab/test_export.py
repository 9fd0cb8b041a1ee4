"""The copy without Python: three pages that open by double click, whole and without a network; what
needs the engine says so."""

import json
import re

import pytest
from click.testing import CliRunner

from headwright.cli.lab import command
from headwright.lab import content
from headwright.lab.export import export

PAGES = ["index.html", "check.html", "cards.html"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copy")
    export(folder)
    return folder


@pytest.fixture
def by_double_click(copy):
    return copy.as_uri() + "/"


def packed(copy, name):
    page = (copy / name).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="packed">(.*?)</script>', page, re.DOTALL)[1])


def test_every_page_has_all_it_needs_inside(copy):
    assert sorted(f.name for f in copy.rglob("*")) == sorted(PAGES)
    for name in PAGES:
        page = (copy / name).read_text(encoding="utf-8")
        assert not re.search(r'(src|href)="(?!data:|#|[a-z]+\.html)', page.split('id="packed"')[0])
    plane = packed(copy, "index.html")
    assert set(plane["documents"]) >= set(content.documents(engine=False)) - {
        "data/cards.json",
        "css/roles.css",
    }
    assert json.loads(plane["documents"]["data/site.json"])["engine"] is False


def test_modules_are_as_they_are_but_for_the_names_of_others(copy):
    modules = packed(copy, "index.html")["modules"]
    for path, text in modules.items():
        source = (content.STATIC / path).read_text(encoding="utf-8")
        imported = re.findall(r'(?:from|import\()\s*"([^"]+)"', text)
        assert set(imported) <= set(modules)
        assert len(text.splitlines()) == len(source.splitlines())
    assert "js/opening/opening.js" in modules, "what is imported later is there, too"


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
def test_the_copy_works_by_double_click(open_page, by_double_click):
    page = open_page("index.html#preset=heads", base=by_double_click)
    assert page.locator("#design-go").is_disabled()
    assert "headwright lab" in page.locator("#design-go").get_attribute("title")
    assert page.locator("text=This copy works without Python").count() >= 2
    page.wait_for_selector("#exact-table td")
    page.locator("#beta").fill("1.5")
    assert "2000 draws" in page.locator("#values-reading").inner_text()
    page.locator("#dots li:nth-child(4) a").click()
    page.wait_for_function(
        "() => document.getElementById('station-title').textContent.startsWith('Getting')"
    )
    page.wait_for_selector("#station-text svg")
    assert "station=4" in page.evaluate("location.hash")
    page.locator("#depends").scroll_into_view_if_needed()
    page.wait_for_selector("#depends rect")
    page.locator("#opening").click()
    page.wait_for_selector("#opening-dialog[open] svg")
    page.keyboard.press("Escape")
    page.locator("nav >> text=Check").click()
    page.wait_for_selector("body[data-ready] #judge:disabled")
    page.locator("nav >> text=Cards").click()
    page.wait_for_selector("body[data-ready] #table td")


@pytest.mark.browser
def test_the_copy_works_from_a_server(open_page, copy, static):
    page = open_page("#preset=ten&q=a&beta=4", base=f"{static(copy.parent)}{copy.name}/")
    assert page.locator("#logits .handle").count() == 10


@pytest.mark.browser
def test_a_page_of_ones_own_frames_the_plane(open_page, chromium, copy):
    """What the share menu copies, pasted into a page beside the exported lab."""
    page = open_page("#preset=ten&q=a+b&beta=2&station=5")
    page.locator("#share").click()
    page.locator("#copy-frame").click()
    page.wait_for_selector("#toast.shown")
    assert "headwright lab --export lab" in page.locator("#toast").inner_text()
    frame = page.evaluate("navigator.clipboard.readText()")
    assert 'src="lab/index.html?embed=plane#preset=ten&amp;q=a+b&amp;beta=2&amp;station=5"' in frame

    file = copy / "lecture.html"
    file.write_text(f"<!doctype html><h1>Lecture</h1>{frame.replace('lab/', '')}", encoding="utf-8")
    around = chromium.new_page()
    around.goto(file.as_uri())
    inside = around.frame_locator("iframe")
    inside.locator("body[data-ready]").wait_for()
    assert "0.495 each" in inside.locator("#goal-text").inner_text()
    assert inside.locator("#logits").is_visible()
    for part in (".top", "#station-text", ".panels", "#weights", ".steps"):
        assert not inside.locator(part).first.is_visible(), part
    inside.locator("#beta").fill("1")
    inside.locator("#goal.reached").wait_for()
    whole = inside.locator("text=Open in the lab")
    whole.hover()
    assert whole.get_attribute("href").endswith("index.html#preset=ten&q=a+b&beta=10&station=5")
    around.close()
    file.unlink()
