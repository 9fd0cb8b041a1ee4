"""Pages for everybody: axe finds nothing in light or dark, and nothing is wider than the screen."""

import pytest
from tests.cli.test_conventions import run_here

AXE = """() => axe.run().then((r) => r.violations.map((v) =>
  [v.id, v.nodes.map((n) => n.html.slice(0, 120) + " " + (n.any[0]?.message ?? ""))]))"""
# A page by the command that writes it; of a class, the index and one student's
COMMANDS = {
    "check": ("check", "--demo", "--html"),
    "xray": ("xray", "--demo", "--only", "pattern,permutation", "--html"),
    "study": ("study", "price", "--small", "--limit", "24", "--workers", "1", "--out"),
}
SCREENS = [(390, "light"), (1200, "dark")]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=COMMANDS)
def pages(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    done = run_here(*COMMANDS[request.param], str(folder))
    assert done.exit_code in (0, 1), done.stderr
    return sorted(folder.glob("*.html"))


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    chromium, node_modules, pages, width, theme
):
    for file in pages:
        look_at(file, chromium, node_modules, width=width, theme=theme)


def look_at(file, chromium, node_modules, *, width, theme):
    size = {"width": width, "height": 900}
    context = chromium.new_context(viewport=size, color_scheme=theme)
    page = context.new_page()
    page.goto(file.as_uri())
    page.evaluate((node_modules / "axe-core" / "axe.min.js").read_text())
    assert page.evaluate(AXE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
