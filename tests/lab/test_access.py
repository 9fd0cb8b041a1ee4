"""For everybody: axe finds nothing in light or dark, at a desk or on a phone; the types in the
comments hold."""

from pathlib import Path

import pytest

from headwright.lab.stations import lab_stations

pytestmark = pytest.mark.browser
AXE = """() => axe.run().then((r) => r.violations.map((v) =>
  [v.id, v.nodes.map((n) => n.html.slice(0, 120) + " " + (n.any[0]?.message ?? ""))]))"""
FOCUSED = (
    "() => [document.activeElement.id, document.activeElement.getAttribute('class')].join(' ')"
)
AT_STATION = """(number) => document.getElementById("station-number").textContent
  .startsWith(`Station ${number} `)"""
PAGES = [
    "#preset=heads&station=9",
    "#preset=plane&noise=0.05&station=1",
    "check.html",
    "cards.html",
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(open_page, node_modules, path, theme):
    page = open_page(path, theme=theme)
    if path == "check.html":
        page.locator("#example").click()
        page.locator("#judge").click()
        page.wait_for_selector(".verdict, #fault:not(:empty)")
    # The page's own policy forbids added scripts; evaluate runs outside of it.
    page.evaluate((node_modules / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(AXE)
    assert found == []


# Fill of every text in a picture against the card it is drawn on; axe looks at HTML only.
FAINT = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((x) => {
      const s = x / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const card = light(getComputedStyle(document.querySelector(".planes figure")).backgroundColor);
  return [...document.querySelectorAll("#stage svg text, #stage svg tspan")]
    .filter((text) => text.getClientRects().length && text.textContent.trim())
    .map((text) => [text.textContent, light(getComputedStyle(text).fill)])
    .map(([text, ink]) => [text, Math.max(ink, card) / Math.min(ink, card)])
    .filter(([, contrast]) => contrast < 4.5);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES[:2])
def test_text_in_pictures_can_be_read(open_page, path, theme):
    page = open_page(path, theme=theme)
    assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_wider_than_a_phone(open_page, path):
    page = open_page(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """[...document.querySelectorAll('button, select, a.where, nav a')]
           .filter((b) => b.offsetParent)
           .filter((b) => b.getBoundingClientRect().height < 23.5)
           .map((b) => b.outerHTML.slice(0, 80))"""
    )
    assert small == []


def test_on_a_phone_goal_and_plane_share_the_first_screen(open_page):
    page = open_page("#preset=plane&beta=7", width=390, height=844)
    for card in lab_stations():
        scene = f"#{card['state']}&station={card['number']}"
        page.evaluate("(hash) => { location.hash = hash; }", scene)
        page.wait_for_function(AT_STATION, arg=card["number"])
        assert page.evaluate("scrollY") == 0
        for part in ("#goal", ".square svg:not(.hidden)"):
            box = page.locator(part).first.bounding_box()
            assert box["y"] >= 0, f"{part} at station {card['number']}"
            assert box["y"] + box["height"] <= 844, f"{part} at station {card['number']}"

    # Below the first screen, too, the goal stays while values are dragged.
    page.locator("#values").scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 0
    assert page.locator("#goal").bounding_box()["y"] == 0
    page.locator("#station-read").click()
    assert page.locator("#station-text").is_visible()


def test_every_control_has_a_name_and_can_be_reached_by_tab(open_page):
    page = open_page("#preset=plane")
    # The design panel is fetched when it is seen; nobody tabs there faster than that.
    page.locator("#design").scroll_into_view_if_needed()
    page.wait_for_selector("#design-go:enabled")
    page.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(90):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    for wanted in (
        "reset",
        "station-next",
        "preset",
        "beta",
        "handle key",
        "handle query head-1",
        "handle value",
        "design-go",
    ):
        assert any(wanted in name for name in seen), wanted


def test_the_query_flies_unless_motion_is_unwanted(open_page):
    def frames(motion):
        page = open_page("#preset=plane&q=-0.6,0.2&beta=2", motion=motion)
        page.locator("#design").scroll_into_view_if_needed()
        page.wait_for_selector("#design-go:enabled")
        page.evaluate("performance.clearMeasures()")
        page.locator("#design-go").click()
        page.wait_for_selector("#design-answer .ok, #design-answer .fault")
        page.wait_for_function("() => !location.hash.includes('q=-0.6,0.2')")
        return page.evaluate("performance.getEntriesByName('derive').length")

    assert frames("reduce") <= 2
    assert frames("no-preference") > 4


def test_types_in_the_comments_hold(node_modules):
    import shutil
    import subprocess

    from headwright.lab import content

    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    files = sorted(str(f) for f in Path(str(content.STATIC), "js").rglob("*.js"))
    assert len(files) > 30
    options = [
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--noUnusedLocals",
        "--noUnusedParameters",
        "--target",
        "es2022",
    ]
    options += [
        "--module",
        "es2022",
        "--moduleResolution",
        "bundler",
        "--lib",
        "es2022,dom,dom.iterable",
    ]
    tsc = node_modules / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        [node, str(tsc), *options, *files], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    assert done.returncode == 0
