"""A counterexample contradicts the answer, counts as many keys as its reason, and is a table."""

from __future__ import annotations

import re

import numpy as np
import pytest

from headwright.homework.batch import check
from headwright.homework.showing.example_tables import counterexample


def verdict(question: str, text: str):
    return next(v for v in check(text).verdicts if v.question == question)


def rows_of(html: str) -> list[str]:
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [" ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in rows]


def test_keys_without_a_name_that_fare_alike_share_a_line():
    scores = [[0.0, 1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]
    weights = np.array([0.1, 0.3, 0.1, 0.4, 0.1])
    order = ["k1", "a", "k3", "b", "k5"]
    html = counterexample({"order": order, "scores": scores, "weights": weights})
    assert rows_of(html) == [
        "key scores, head 1 scores, head 2 weights",
        "a 1 0 0.3",
        "b 2 1 0.4",
        "3 others, each 0 0 0.1",
    ]


def test_no_value_is_shown_as_a_program_prints_it():
    example = {"story": "so", "M": np.eye(2), "case": {"v": [1, 2.5]}, "gamma": [1.5, -0.0], "n": 3}
    html = counterexample(example)
    assert "[" not in html
    assert "{" not in html
    assert "<b>Counterexample.</b> so" in html
    assert "1.5, 0" in html


@pytest.mark.parametrize("example", [None, {}])
def test_nothing_is_shown_where_there_is_none(example):
    assert counterexample(example) == ""


@pytest.mark.parametrize(
    "text",
    [
        "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$",
        "(b) ii. $q = k_a + k_b$",
        "(b) ii. $q = \\beta(k_a - k_b)$ with $\\beta \\gg 0$",
        "(b) ii. $q = \\beta(k_a + k_b)$ with $\\beta = 2$",
    ],
)
def test_the_table_has_the_n_of_the_reason(text):
    found = verdict("b.q", text)
    assert "n = 10" in found.reason
    assert len(found.counterexample["weights"]) == 10
    a, b = (found.counterexample["order"].index(letter) for letter in "ab")
    weights = found.counterexample["weights"]
    assert abs(weights[a] - 0.5) > 0.02 or abs(weights[b] - 0.5) > 0.02


def test_equal_heads_are_shown_in_a_sample_in_which_they_fail():
    text = "(d) i. $q_1 = q_2 = \\beta(\\mu_a + \\mu_b)$ with $\\beta \\gg 0$"
    example = verdict("d.q", text).counterexample
    first, second = example["scores"]
    assert first == second
    assert max(example["weights"]) > 0.9
    assert "1.5 times as long" in example["story"]


def test_a_factor_that_is_there_is_not_called_missing():
    three = verdict("b.q", "(b) ii. $q = 3 (k_a + k_b)$")
    assert three.status == "incomplete"
    assert three.reason.startswith("the factor is too small: at n = 10 it gives alpha_a = 0.417")
    bare = verdict("b.q", "(b) ii. $q = k_a + k_b$")
    assert bare.reason.startswith("the scale is missing")
    half = verdict("b.q", "(b) ii. $q = \\frac{k_a + k_b}{2}$")
    assert half.reason.startswith("the factor makes the query too short")


def test_a_wrong_matrix_is_shown_at_work():
    example = verdict("b.M", "(b) i. $M = B B^\\top$").counterexample
    assert example["M(v_a + v_b)"] == [0.0, 5.0, 0.0]
    assert example["wanted"] == [2.0, 0.0, 0.0]
    coordinates = verdict("b.M", "(b) i. $M = A^\\top$").counterexample
    assert coordinates["M(v_a + v_b)"] == [2.0]


def test_the_example_of_a_weak_condition_leaves_weight_elsewhere():
    texts = ["k_j^\\top q > k_i^\\top q", "k_j \\gg k_i", "k_j^\\top q \\gg 0", "q = k_j"]
    for text in texts:
        found = verdict(
            "a.cond", f"(a) ii. ${text}$ for all $i \\neq j$, so $\\alpha_j \\approx 1$."
        )
        if found.status in ("wrong", "incomplete"):
            example = found.counterexample
            assert example["weights"][example["j"]] < 0.9, text
