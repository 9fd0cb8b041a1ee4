"""What stands out: planted heads are named with their numbers, and chance is not."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra 'models'")

from tests.trained import made_up
from tests.trained.families import build

import headwright as hw
from headwright.trained.findings.breaking import breaking_first
from headwright.trained.findings.candidates import candidates
from headwright.trained.findings.groups import templates
from headwright.trained.findings.remarkable import remarkable
from headwright.trained.measures.chance import Chance


def _cards(layers=12, heads=4, **planted):
    """`planted["3.2"] = {"first": 0.9}`"""
    rng = np.random.default_rng(0)
    cards = []
    for layer in range(layers):
        for head in range(heads):
            own = planted.get(f"{layer}.{head}", {})
            cards.append(made_up.card(rng, layer, head, **own))
    return cards


def _said(cards):
    return [finding.sentence for finding in remarkable(cards).findings]


def test_planted_heads_are_found_with_their_numbers():
    cards = _cards(
        **{
            "0.1": {"previous": 0.97},
            "5.0": {"induction": 0.62},
            "7.3": {"induction": 0.44},
            "9.2": {"noise_gain": 4.0},
        }
    )
    median = np.median([card.measures["noise_gain"] for card in cards])
    assert _said(cards) == [
        "Head 0.1 looks at the previous token: 97% of its weight.",
        f"Head 9.2 has the largest noise gain: 4.00, {4.0 / median:.1f} times the median of "
        f"{median:.3f}; "
        "small errors in its keys move its output most.",
        "Heads 5.0 and 7.3 are induction heads: 62% and 44% of their weight is on what followed "
        "the same token before.",
    ]
    ranked = remarkable(cards).heads
    assert [one.card.name for one in ranked[:4]] == ["0.1", "9.2", "5.0", "7.3"]
    assert ranked[0].why == "previous token"


def test_many_heads_are_counted_and_placed():
    sinks = {f"{layer}.{head}": {"first": 0.8} for layer in (3, 4) for head in range(4)}
    sinks["4.1"] = {"first": 0.996}
    finding = remarkable(_cards(**sinks, **{"11.0": {"first": 0.6}})).findings[0]
    assert finding.sentence == (
        "9 of 48 heads rest on the first token, 8 of them in layers 3 to 4; "
        "the strongest is 4.1 with 99%."
    )
    assert finding.numbers == {
        "measure": "first", "count": 9, "of": 48, "strongest": 0.996, "equal_weights": 0.01,
    }  # fmt: skip
    assert finding.plain()["heads"][0] == "4.1"
    assert len(finding.heads) == 9


def test_at_most_five_sentences():
    planted = {
        "0.0": {"first": 0.9}, "1.0": {"previous": 0.9}, "2.0": {"induction": 0.9},
        "3.0": {"duplicate": 0.9}, "4.0": {"separators": 0.9}, "5.0": {"noise_gain": 9.0},
        "6.0": {"copy": 0.9, "largest": 0.9},
    }  # fmt: skip
    cards = _cards(**planted)
    assert len(candidates(cards)) == 7
    assert len(_said(cards)) == 5


def test_what_equal_weights_give_is_no_finding():
    """A text of one token again and again: every head has 90% on duplicates, and none is one."""
    cards = [
        dataclasses.replace(
            card,
            measures=card.measures | {"duplicate": 0.9, "induction": 0.9},
            chance=card.chance | {"duplicate": Chance(0.9, 200), "induction": Chance(0.9, 200)},
        )
        for card in _cards()
    ]
    assert _said(cards)[0].startswith("Little stands out in these 48 heads")


def test_few_queries_carry_nothing():
    cards = [
        dataclasses.replace(card, chance={name: Chance(0.1, 9) for name in card.chance})
        for card in _cards(**{"0.1": {"previous": 0.97}, "0.2": {"first": 0.97}})
    ]
    (sentence,) = _said(cards)
    assert sentence.startswith("The texts are too short")


def test_twins_look_somewhere_and_not_everywhere():
    alike = {"redundancy": 0.99}
    spread = {"0.0": alike | {"effective_keys": 100.0}, "0.1": alike | {"effective_keys": 100.0}}
    assert not [one for one in candidates(_cards(**spread)) if one.label == "twins"]
    sharp = {"0.0": alike, "0.1": {"redundancy": 0.5}, "2.1": {"redundancy": 0.97}}
    (twins,) = [one for one in candidates(_cards(**sharp)) if one.label == "twins"]
    assert twins.sentence == (
        "2 pairs of heads weigh the keys alike; the closest are 0.0 and 0.1 with cosine 0.99."
    )
    assert [card.name for card in twins.heads] == ["0.0", "0.1", "2.1", "2.2"]


def test_an_outlier_within_its_error_is_none():
    cards = _cards(**{"5.0": {"noise_gain": 1.0}})
    assert "noise gain" in [one.label for one in candidates(cards)]
    unsure = [dataclasses.replace(card, errors={"noise_gain": 0.3}) for card in cards]
    assert "noise gain" not in [one.label for one in candidates(unsure)]


def test_entropy_that_falls_with_depth():
    falling = {f"{i}.{h}": {"entropy": 4.0 - 0.3 * i} for i in range(12) for h in range(4)}
    (depth,) = [one for one in candidates(_cards(**falling)) if one.label == "depth"]
    assert depth.sentence.startswith("Heads grow sharper with depth: the entropy is 3.55 in the")
    assert "1.15 in the last" in depth.sentence


@pytest.mark.parametrize("family", ["gpt2", "bert", "llama", "t5"])
def test_little_stands_out_in_a_model_that_was_never_trained(family):
    """And what is said of it are numbers of its own."""
    model, _ = build(family)
    ids = np.random.default_rng(5).integers(1, 60, 60).tolist()
    result = hw.audit(model, [ids], rows=2)
    (finding,) = result.remarkable.findings
    assert finding.sentence.startswith("Little stands out")
    assert result.remarkable.heads[0].why.startswith("largest ")
    nearest = finding.heads[0].measures[finding.numbers["measure"]]
    assert nearest == finding.numbers["strongest"] > finding.numbers["equal_weights"]


def test_every_template_can_be_said():
    """No field is missing, whatever the heads are called."""
    for template in templates()["group"]:
        for form in ("one", "some", "many"):
            words = dict.fromkeys(("count", "total", "heads", "values", "best", "value"), "x")
            assert template[form].format(**words, chance="x", where=", all in layer 3")


def test_the_nearest_to_a_kind_is_named_where_there_is_none():
    finding = remarkable(_cards(**{"2.1": {"first": 0.4}})).findings[0]
    assert finding.sentence == (
        "No head rests on the first token; the nearest to it is 2.1 with 40% of its weight, "
        "where equal weights give 1%."
    )
    assert finding.numbers["count"] == 0
    assert "Little" in _said(_cards(**{"2.1": {"first": 0.2}}))[0]


def test_even_heads_are_special_among_others_only():
    even = {f"3.{head}": {"effective_keys": 120.0} for head in range(2)}
    assert _said(_cards(**even))[0] == (
        "Heads 3.0 and 3.1 weigh the keys nearly equally: they spread over 120 and 120 of the 128 "
        "a query sees."
    )
    everywhere = {f"{i}.{h}": {"effective_keys": 120.0} for i in range(12) for h in range(4)}
    assert "Little stands out" in _said(_cards(**everywhere))[0]


def test_heads_break_first_by_gain_then_by_margin():
    cards = _cards(**{"4.1": {"noise_gain": 2.5}, "6.0": {"margin": 0.01}})
    first = breaking_first(cards, None).heads[0]
    assert first.card.name == "4.1"
    assert first.why == "an error of 1% in its keys moves its output by 2.50%; margin 1.00"
    without = []
    for card in cards:
        kept = {name: x for name, x in card.measures.items() if name != "noise_gain"}
        without.append(dataclasses.replace(card, measures=kept))
    assert breaking_first(without, None).heads[0].card.name == "6.0"


def test_heads_break_first_by_the_bits_they_need():
    model, _ = build("gpt2")
    result = hw.audit(model, [list(range(1, 9))], rows=2, key_bits=(8, 3))
    needed = dict(zip((card.name for card in result), result.key_noise.budget(0.05), strict=True))
    order = [needed[one.card.name] or 99 for one in result.breaking.heads]
    assert order == sorted(needed_bits(needed), reverse=True)[: len(order)]
    assert "at 3" in result.breaking.heads[0].why


def needed_bits(needed):
    return [bits or 99 for bits in needed.values()]
