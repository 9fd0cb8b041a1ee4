"""The opening: shown once to newcomers when the page is ready, skippable, still where motion is
unwanted; its numbers are computed by the page, and Python computes the same."""

import math

import numpy as np
import pytest
from tests import tolerances

import headwright as hw
from headwright.lab.presets import presets

pytestmark = pytest.mark.browser
TITLES = [
    "One head flips a coin",
    "Two heads hold",
    "7.86% of the time they do not",
    "One head that looks away does",
]
ACTS = """async () => {
  const { acts, backwards, duration } = await import("/js/opening/acts.js");
  const site = await (await fetch("/data/site.json")).json();
  const all = acts(site.presets);
  return {
    backwards: backwards(0.5),
    seconds: all.map(duration).reduce((a, b) => a + b) / 1000,
    acts: all.map((a) => ({
      title: a.title, words: a.words, draws: a.draws, said: a.said(a.draws),
      queries: a.state.directions.map((u) => u.map((x) => x * a.state.sharpness)),
    })),
  };
}"""


@pytest.fixture(scope="module")
def story(chromium, lab):
    page = chromium.new_page()
    page.goto(lab)
    told = page.evaluate(ACTS)
    page.close()
    return told


def test_the_number_is_the_normal_distributions(story):
    exact = math.erfc(1) / 2  # Phi(-sqrt 2)
    assert story["backwards"] == pytest.approx(exact, rel=tolerances.ROUNDING)
    assert [act["title"] for act in story["acts"]] == TITLES
    assert f"{100 * exact:.2f}%" in TITLES[2]


def test_every_draw_is_what_python_computes(story):
    keys = np.array(presets()["coin"]["keys"])
    values = presets()["coin"]["values"]
    for act in story["acts"]:
        for draw in act["draws"][::40]:
            drawn = keys.copy()
            drawn[0] *= draw["length"]
            expected = hw.multihead(act["queries"], drawn, values).output
            np.testing.assert_allclose(draw["output"], expected, rtol=0, atol=tolerances.ROUNDING)


def test_the_draws_bear_the_story_out(story):
    coin, heads, fail, away = story["acts"]
    lengths = np.array([draw["length"] for draw in coin["draws"]])
    n = len(lengths)
    sigma = math.sqrt(story["backwards"] * (1 - story["backwards"]) / n)
    assert abs((lengths < 0).mean() - story["backwards"]) < tolerances.SIGMAS * sigma
    assert f"{(lengths < 0).sum()} of {n} draws" in fail["said"]

    def far(act):
        return np.array([math.hypot(*draw["output"]) for draw in act["draws"]])

    assert np.median(far(coin)) > 0.9
    assert far(heads)[:12].max() < 0.1
    assert far(fail)[lengths < 0].min() > 0.1
    assert far(away).max() < 0.1
    assert away["said"] == f"held in {n} of {n} draws"
    assert story["seconds"] < 20


def test_newcomers_see_it_once_and_may_skip_it(open_page):
    page = open_page(newcomer=True, motion="no-preference")
    dialog = page.locator("#opening-dialog")
    dialog.wait_for()
    page.wait_for_function(
        "() => document.querySelectorAll('#opening-dialog .trail circle').length > 1"
    )
    assert page.locator("#opening-title").inner_text() == TITLES[0]
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.goto(page.url.partition("#")[0] + "?again")
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(900)
    assert dialog.count() == 0
    page.locator("#opening").click()
    dialog.wait_for()


def test_a_link_is_not_interrupted(open_page):
    page = open_page("#preset=ten", newcomer=True)
    page.wait_for_timeout(900)
    assert page.locator("#opening-dialog").count() == 0


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1200)])
def test_without_motion_it_is_four_pictures(open_page, node_modules, theme, width):
    page = open_page(theme=theme, width=width)
    page.locator("#opening").click()
    for title in TITLES:
        assert page.locator("#opening-title").inner_text() == title
        before = page.locator("#opening-dialog svg").inner_html()
        page.wait_for_timeout(120)
        assert page.locator("#opening-dialog svg").inner_html() == before
        page.evaluate((node_modules / "axe-core" / "axe.min.js").read_text())
        found = page.evaluate(
            "axe.run('#opening-dialog').then((r) => r.violations.map((v) => v.id))"
        )
        assert found == []
        page.locator("#opening-dialog .main").click()
    page.locator("#opening-dialog").wait_for(state="detached")
