"""The page as people use it: small, short, for everybody, and safe whatever a token says."""

import dataclasses
import re

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'models'")

from tests.tolerances import WHOLE_PERCENT
from tests.trained import made_up

from headwright.trained.cache.key_noise import CacheSetting, KeyNoise
from headwright.trained.page import tokens

AXE = """(part) => axe.run(part ?? document).then((r) => r.violations.map((v) =>
  [v.id, v.nodes.map((n) => n.html.slice(0, 120) + " " + (n.any[0]?.message ?? ""))]))"""
SCREEN = 900
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def small():
    """Six layers of four heads, one of each a sink, compared with another audit."""
    return made_up.audit(6, 4, first=0.9)


@pytest.fixture(scope="module")
def address(small, tmp_path_factory):
    html = small.to_html(small.against(made_up.audit(6, 4, seed=1, first=0.8)))
    return _written(html, tmp_path_factory.mktemp("report"))


def _written(html, folder):
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    return file


@pytest.fixture
def open_report(chromium, address):
    """`open_report(width=, theme=)`; no page error, and nothing asked of any network."""
    contexts, faults = [], []

    def open_report(file=address, *, width=1200, theme="light"):
        size = {"width": width, "height": SCREEN}
        context = chromium.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a token ran: {dialog.message}"))
        page.on("request", lambda asked: asked.url.startswith("http") and faults.append(asked.url))
        page.goto(f"file://{file}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert faults == []


def test_a_large_model_fits_five_megabytes_and_ten_screens(open_report, tmp_path):
    """48 layers of 32 heads, with 16 keys for every query of every head: more than any trained
    head has."""
    large = dataclasses.replace(made_up.audit(48, 32, first=0.9), key_noise=_noise(48 * 32))
    file = _written(large.to_html(), tmp_path)
    assert file.stat().st_size < 5_000_000
    page = open_report(file)
    assert page.evaluate("document.documentElement.scrollHeight") <= 10 * SCREEN


def _noise(heads):
    """Eight settings of all heads."""
    rng = np.random.default_rng(2)
    places = tuple(("model", i // 32, i % 32) for i in range(heads))
    settings = []
    for per in ("token", "channel"):
        for bits in (1, 2, 4, 8):
            errors = 2.0**-bits * rng.uniform(0.5, 2.0, (4, heads))
            settings.append(CacheSetting(per, bits, *errors))
    return KeyNoise(places, tuple(settings))


def test_more_heads_than_fit_leave_queries_out(small, monkeypatch):
    """Every second one, until the page is small enough; the last one stays."""
    monkeypatch.setattr(tokens, "_MOST", 20_000)
    looked = tokens.thinned(small.cards, small.passages)
    assert len(looked.passages["model"].queries) == len(looked.looks[0].keys) == 6
    assert looked.passages["model"].queries[-1] == small.passages["model"].queries[-1]
    assert sum(map(len, tokens.pack(looked.looks).values())) < 20_000


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1200, "dark")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    open_report, node_modules, width, theme
):
    page = open_report(width=width, theme=theme)
    page.evaluate((node_modules / "axe-core" / "axe.min.js").read_text())
    assert page.evaluate(AXE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("location.hash = 'head-model-3-2'")
    page.wait_for_selector("dialog[open] .line:visible")
    assert page.evaluate(AXE, "dialog") == []


def test_the_table_is_sorted_by_a_click_and_says_so(open_report, small):
    page = open_report()
    assert page.locator("#heads tbody tr").count() == 20
    header = page.locator("#heads thead th", has_text="entropy").first
    page.locator("#heads thead button", has_text="first token").click()
    sorted_header = page.locator("#heads th[aria-sort=descending]")
    assert sorted_header.inner_text().startswith("first token")
    assert header.get_attribute("aria-sort") == "none"
    page.locator("#all-heads").click()
    names = page.locator("#heads tbody th").all_inner_texts()
    assert names == [card.name for card in small.sorted("first")]
    page.locator("#heads thead button", has_text="first token").click()
    assert page.locator("#heads th[aria-sort=ascending]").count() == 1


def test_a_head_looks_where_its_numbers_say(open_report, small):
    """Through the packed arrays to the words under the lines."""
    page = open_report()
    page.evaluate("location.hash = 'head-model-5-3'")
    page.wait_for_selector("dialog[open] .line:visible")
    card = small.cards[-1]
    last = page.locator("dialog .spoken").last.text_content()
    place = small.passages["model"].queries[-1]
    assert last.startswith(f"“{made_up.HOSTILE.replace(' ', '␣')}” ({place}): ")
    shares = [float(x) / 100 for x in re.findall(r"(\d+) % on “", last)]
    keys = [int(x) for x in re.findall(r"” \((\d+)\)[,;]", last)]
    assert keys == card.looks.keys[-1].tolist()
    np.testing.assert_allclose(shares, card.looks.weights[-1], atol=WHOLE_PERCENT)


def test_lines_are_reached_by_keyboard_and_finger(open_report):
    page = open_report(width=390)
    view = page.locator("[data-tokens] .tokens").first
    first = view.locator(".line:visible").first
    first.focus()
    said = view.locator(".said")
    before = said.inner_text()
    assert before == first.locator(".spoken").text_content()
    page.keyboard.press("ArrowDown")
    assert (
        said.inner_text() == view.locator(".line:visible").nth(1).locator(".spoken").text_content()
    )
    view.locator(".token[title]:visible").last.click()
    assert re.match(r"“.*” \(\d+\) has \d+ %\. “", said.inner_text())
    assert view.locator(".line:visible").count() == 6
    view.get_by_text("All 24 queries").click()
    assert view.locator(".line:visible").count() == 24


def test_tokens_are_text_in_their_own_direction(open_report):
    """Spaces and line ends have signs; nothing is markup; each token keeps its direction."""
    page = open_report()
    shown = page.locator("[data-tokens] .token").all_inner_texts()
    assert {"␣the", "↵", "<b>&amp;", "</script>", "日本", "␣שלום"} <= set(shown)
    assert page.locator("[data-tokens] img, [data-tokens] b").count() == 0
    assert page.locator("bdi.token.special").count() > 0


def test_a_card_is_closed_by_escape_and_the_map_opens_one(open_report):
    page = open_report()
    page.locator("#map rect").nth(5).click()
    page.wait_for_selector("dialog[open]")
    assert page.locator("#card-title").inner_text() == "Head 1.1"
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.locator("#all-maps summary").click()
    # The browser tells the page after the click has returned.
    page.locator(".maps canvas").first.wait_for()
    assert page.locator(".maps canvas").count() == len(
        page.evaluate("JSON.parse(document.getElementById('audit').textContent).measures")
    )


def test_one_head_in_a_notebook(open_report, small, tmp_path):
    view = small.tokens(3, 2)
    file = tmp_path / "cell.html"
    file.write_text(f"<body data-ready>{view._repr_html_()}</body>", encoding="utf-8")
    page = open_report(file)
    frame = page.frame_locator("iframe")
    frame.locator(".line").first.wait_for()
    assert frame.locator(".line").count() == 24
    assert repr(view).startswith("<TokenView of head 3.2: ")
    assert len(repr(view)) < 300
