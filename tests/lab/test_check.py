"""The check page: verdicts beside the text they speak about, counterexamples in the plane, and no
markup from text."""

import numpy as np
import pytest
from tests import tolerances

import headwright as hw

pytestmark = pytest.mark.browser

HOSTILE = """(b) ii. $q = k_a + k_b$ 😀 <img src=x onerror=alert(1)><script>alert(2)</script>

(c) i. $q = \\beta(\\mu_a + \\mu_b)$, $\\beta \\gg 0$ <b>bold</b>
"""


def judge(page, text):
    page.locator("#text").fill(text)
    page.locator("#judge").click()
    page.wait_for_selector(".verdict")


def test_verdicts_spans_and_repairs(open_page):
    page = open_page("check.html")
    page.locator("#example").click()
    text = page.locator("#text").input_value()
    page.locator("#judge").click()
    page.wait_for_selector(".verdict")
    said = hw.check(text).verdicts
    shown = [v for v in said if v.status != "missing"]
    assert {v.status for v in shown} == {"correct", "wrong"}
    assert page.locator(".verdict").count() == len(shown)
    for at, verdict in enumerate(shown):
        card = page.locator(".verdict").nth(at)
        assert verdict.status in card.get_attribute("class")
        assert verdict.reason in card.inner_text()
        assert (verdict.repair or "") in card.inner_text()
        span = verdict.span
        assert page.locator(f"#span-{at}").inner_text() == text[span.start : span.end]
    page.locator("#edit").click()
    assert page.locator("#text").is_visible()


def test_answers_and_counterexamples_are_shown_as_on_the_pages(open_page):
    """Formulas drawn, numbers in a table: no value as a program writes it."""
    page = open_page("check.html")
    judge(page, "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$")
    card = page.locator(".verdict").first
    assert card.locator(".read svg").count() == 1
    card.locator("summary", has_text="Counterexample").click()
    shown = card.locator(".example").inner_text()
    assert "0.1459" in shown
    assert not set(shown) & set('[]{}"')
    bars = card.locator(".bar-of-weight i")
    assert bars.first.evaluate("bar => bar.style.width") == "14.6%"


def test_a_counterexample_opens_in_the_plane_with_its_weights(open_page):
    page = open_page("check.html")
    judge(
        page,
        "(d) i. $q_1 = \\beta(\\mu_a + \\mu_b)$, $q_2 = \\beta(\\mu_a - \\mu_b)$, $\\beta \\gg 0$",
    )
    link = page.locator("text=See the counterexample in the plane").get_attribute("href")
    plane = open_page(link)
    label = plane.locator("#weights").get_attribute("aria-label")
    seen = dict(part.split(" ") for part in label.removeprefix("weights: ").split(", "))
    assert [float(seen["a"]), float(seen["b"])] == pytest.approx(
        [0.75, 0.25], abs=tolerances.THREE_DECIMALS
    )
    assert np.isclose(sum(map(float, seen.values())), 1, atol=tolerances.THREE_DECIMALS)


def test_text_never_becomes_markup(open_page):
    page = open_page("check.html")
    judge(page, HOSTILE)
    assert (
        page.locator(
            "#marked img, #marked script, #marked b, .verdicts img, .verdicts script"
        ).count()
        == 0
    )
    assert page.locator("#marked").inner_text() == HOSTILE
    # Characters beyond the first plane count once: the mark is where Python says it is.
    span = next(v.span for v in hw.check(HOSTILE).verdicts if v.question == "c.q")
    assert HOSTILE[span.start : span.end] in page.locator("#marked mark").all_inner_texts()


@pytest.mark.parametrize("text", ["hello", "# Only a title", "$x^2 + y^2$"])
def test_a_text_without_an_answer_is_told_so(open_page, text):
    page = open_page("check.html")
    judge(page, text)
    assert "No answer was recognised" in page.locator("#verdicts").inner_text()
    # And the pane goes on working.
    page.locator("#edit").click()
    judge(page, "(c) i. $q = \\beta(\\mu_a + \\mu_b)$, $\\beta \\gg 0$")
    page.wait_for_selector(".verdict.correct")


def test_the_answer_survives_a_reload_until_it_is_cleared(open_page):
    page = open_page("check.html")
    assert page.locator("#clear").is_disabled()
    judge(page, HOSTILE)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#text").input_value() == HOSTILE
    page.locator("#judge").click()
    page.wait_for_selector(".verdict")
    page.locator("#clear").click()
    assert page.locator(".verdict").count() == 0
    assert page.locator("#text").is_visible()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#text").input_value() == ""


def test_faults_are_shown(open_page, tmp_path):
    page = open_page("check.html")
    page.locator("#judge").click()
    assert "try:" in page.locator("#fault").inner_text()
    page.locator("#text").fill("x" * 200_001)
    page.locator("#judge").click()
    page.wait_for_function(
        "() => document.getElementById('fault').textContent.includes('characters')"
    )
    file = tmp_path / "answer.md"
    file.write_text("(c) i. $q = \\beta(\\mu_a + \\mu_b)$, $\\beta \\gg 0$", encoding="utf-8")
    page.locator("#file").set_input_files(file)
    page.wait_for_function("() => document.getElementById('text').value.includes('mu_a')")
    page.locator("#judge").click()
    page.wait_for_selector(".verdict.correct")
