"""The built site is whole: every option and every name is in it, every link leads somewhere, search
works from a folder, and nothing is loaded from another address."""

import functools
import re
from html.parser import HTMLParser
from types import ModuleType
from urllib.parse import unquote, urlsplit

import click
import pytest

import headwright as hw
from headwright.cli import COMMANDS, app
from headwright.site import building

# Names that guides use and `hw` does not offer
IN_GUIDES = [
    "headwright.keys.CorrelatedKeys",
    "headwright.keys.rounded",
    "headwright.noise.exceedance",
    "headwright.noise.weight_distribution",
    "headwright.noise.winners",
    "headwright.testing.assert_attention",
    "headwright.trained.layers",
    "headwright.trained.auditing.audit",
    "headwright.trained.cache.PlannedCache",
]
SECTIONS = ["start", "guides", "concepts", "reference", "gallery", "studies"]
# What a browser loads by itself, other than what a reader may follow
LOADED = re.compile(
    r"""(?:src\s*=\s*["']?|<link[^>]*href\s*=\s*["']?|url\(\s*["']?|@import\s+["'])(?:https?:)?//""",
    re.IGNORECASE,
)
CONTRAST = """() => axe.run({runOnly: ["color-contrast"]}).then((r) =>
  r.violations.flatMap((v) => v.nodes.map((n) => n.html.slice(0, 120))))"""
LINKS = {"a": "href", "img": "src", "script": "src", "link": "href"}


class Page(HTMLParser):
    """Anchors, links and words of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids = {""}
        self.links = []
        self.pieces = []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = " ".join("".join(self.pieces).split())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if found.get(LINKS.get(tag)):
            self.links.append(found[LINKS[tag]])

    def handle_data(self, data):
        self.pieces.append(data)


@functools.cache
def page(path):
    return Page(path)


def pages(site):
    """The pages that Sphinx wrote; the lab beside them is a program with tests of its own."""
    return [
        path for path in sorted(site.rglob("*.html")) if "lab" != path.relative_to(site).parts[0]
    ]


def test_nothing_is_amiss(built):
    assert built["warnings"] == []
    assert built["pages"] > 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_there(site, name):
    context = click.Context(app, info_name="headwright")
    command = app.get_command(context, name)
    shown = page(site / "reference" / "commands" / f"{name}.html")

    assert command.example in shown.text
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts} says nothing"
            assert f"cmdoption-headwright-{name}-{option.opts[0].lstrip('-')}" in shown.ids
            assert " ".join(option.help.replace("`", "").split()) in shown.text
            if isinstance(option.default, int | float | str) and option.default is not False:
                assert f"Default: {option.default}" in shown.text


@pytest.mark.parametrize("name", hw.__all__)
def test_every_public_name_is_there(site, name):
    if name == "audit":
        pytest.importorskip("torch", reason="the models extra is not installed")
    shown = page(site / "reference" / "python" / f"hw.{name}.html")
    thing = getattr(hw, name)

    if isinstance(thing, ModuleType):
        inside = [f"hw.{name}.{word}" for word in thing.__all__]
        assert all(word in shown.text for word in inside)
    else:
        assert f"hw.{name}" in shown.ids
    first = (thing.__doc__ or "").split("\n\n")[0].replace("`", "")
    assert " ".join(first.split()) in shown.text


@pytest.mark.parametrize("name", IN_GUIDES)
def test_names_that_guides_use_are_there(site, name):
    module = name.rpartition(".")[0]
    if module.startswith("headwright.trained"):
        pytest.importorskip("torch", reason="the models extra is not installed")

    assert name in page(site / "reference" / "python" / f"{module}.html").ids


def test_every_link_leads_somewhere(site):
    dead = []
    written = pages(site)
    for path in written:
        for link in page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.is_file():
                dead.append(f"{path.relative_to(site)}: {link}")
            elif goal in written and unquote(parts.fragment) not in page(goal).ids:
                dead.append(f"{path.relative_to(site)}: {link}, no such place")
    assert not dead


def test_nothing_is_loaded_from_another_address(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    foreign = {
        f"{path.relative_to(site)}: {found[0]}"
        for path in files
        if (found := LOADED.search(path.read_text(encoding="utf-8")))
    }
    assert len(files) > 80
    assert not foreign


@pytest.mark.parametrize("section", SECTIONS)
def test_the_front_page_leads_to_every_section(site, section):
    links = page(site / "index.html").links

    assert any(link.startswith(f"{section}/") for link in links)
    assert "lab/index.html" in links


def test_names_in_the_text_are_links(site):
    links = page(site / "guides" / "noise.html").links

    assert "../reference/python/hw.moments.html#hw.moments" in links
    assert "../reference/commands/stress.html" in links


@pytest.mark.browser
def test_search_works_in_a_page_opened_by_a_double_click(site, chromium):
    context = chromium.new_context()
    tab = context.new_page()
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))

    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("textbox", name="Search").fill("exceedance")
    tab.keyboard.press("Enter")
    found = tab.locator("#search-results li a")
    found.first.wait_for()
    goals = [link.get_attribute("href") for link in found.all()]
    context.close()

    assert any("reference/python/headwright.noise.html" in goal for goal in goals)
    assert all(address.startswith("file://") for address in asked)
    assert not faults


@pytest.mark.browser
@pytest.mark.parametrize(
    "name", ["index", "reference/commands/audit", "reference/python/hw.design"]
)
def test_a_phone_shows_whole_pages(site, chromium, name):
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    tab = context.new_page()
    tab.goto((site / f"{name}.html").as_uri())
    too_wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    context.close()

    assert too_wide <= 0


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "reference/python/hw.design"])
def test_everything_can_be_read_against_its_background(site, chromium, node_modules, name, theme):
    context = chromium.new_context(color_scheme=theme)
    tab = context.new_page()
    tab.goto((site / f"{name}.html").as_uri())
    tab.evaluate((node_modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = tab.evaluate(CONTRAST)
    context.close()

    assert found == []


def test_the_tour_is_told_where_the_lab_of_the_site_is(tmp_path, site):
    """Its page stands in a folder beside the lab's."""
    command = building._tour_command(tmp_path)
    lab = command[command.index("--lab") + 1]
    assert (site / "tour" / lab).resolve() == (site / "lab" / "index.html").resolve()
    assert (site / "lab" / "index.html").is_file()
