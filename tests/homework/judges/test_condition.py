"""When one key gets almost all weight: said in words, and in letters of the author's own."""

import numpy as np
import pytest

from headwright.homework.judges.condition.examples import MARGIN, J, examples
from headwright.homework.judges.condition.holds import RATIO

LABEL = "(a) ii. "

SAID = {
    "correct": [
        "The score of key j dominates all others.",
        "The query $q$ has a far higher inner product with $k_j$ than with any other key.",
        r"Exactly when $k_j^\top q$ is very large and the other scores are close to zero.",
        "If $q$ is almost orthogonal to the other keys and its dot product with $k_j$ is large.",
        "The products of the other keys with $q$ are much smaller than $q^T k_j$.",
        r"$\exp(k_j^T q)$ dominates the other terms of the denominator.",
        "$q$ is close to $k_j$, so the dot product with it is significantly larger than the rest.",
        r"$s_j \gg s_i$ for every $i \neq j$",
        "$k_j$ 和 $q$ 的内积远远大于其余键的内积。",
        "查询与 $k_i$ 的点积非常大，并且与其他键几乎正交。",
        "$q$와 $k_j$의 내적이 나머지 키들보다 훨씬 커야 한다.",
        "$q$ と $k_j$ の内積が他のキーよりずっと大きい場合。",
        "Si el producto escalar de $q$ con $k_j$ es mucho mayor que con las otras claves.",
        "Quando o produto interno de $q$ com $k_j$ é muito maior que os demais.",
        "Wenn das Skalarprodukt von $k_j$ und $q$ deutlich größer als alle anderen ist.",
        "Quand le produit scalaire de $k_j$ avec $q$ est nettement plus grand que les autres.",
    ],
    "incomplete": [
        "The query $q$ must be close to the key $k_j$.",
        "The query $q$ points in the same direction as $k_j$.",
        "Its dot product with $k_j$ is the largest among all other keys.",
        "The query $q$ has a very high dot product with the key $k_j$.",
        "$q$ 与 $k_j$ 的方向相同。",
        "$q$ 与 $k_j$ 的点积大于其他键的点积。",
    ],
    "wrong": [r"$q \perp k_i$ for all $i$", r"$k_j \gg k_i$ for $i \ne j$"],
    "unread": [
        "The other dot products are much larger than $k_j^T q$.",
        "Its score need not be much larger than the others.",
        r"$k_j^\top q \gg k_i^\top$ holds",
        "It depends on the temperature.",
        "The query $q$ is much more similar to $k_j$ than to the other keys.",
    ],
}
ROWS = [(text, status) for status, texts in SAID.items() for text in texts]


@pytest.fixture(scope="module")
def reports(judged_apart):
    return judged_apart([LABEL + text for text, _ in ROWS])


@pytest.mark.parametrize(("text", "status"), ROWS, ids=[text for text, _ in ROWS])
def test_conditions(reports, text, status):
    verdicts = {v["question"]: v for v in reports[LABEL + text]["verdicts"]}
    assert verdicts["a.cond"]["status"] == status, verdicts["a.cond"]["reason"]


def test_a_condition_in_words_is_quoted(reports):
    report = reports[LABEL + SAID["correct"][0]]
    assert "dominates all others" in report["verdicts"][0]["reason"]


@pytest.mark.parametrize(
    "statement", [r"k_j^\top q \gg k_i^\top q", r"\exp(k_j^\top q) \gg \exp(k_i^\top q)"]
)
def test_an_example_that_is_just_large_enough_counts(statement, judged_apart):
    """The examples have leads of exactly `MARGIN`, up to rounding."""
    text = f"{LABEL} ${statement}$ for every $i \\neq j$"
    (verdict,) = (v for v in judged_apart([text])[text]["verdicts"] if v["question"] == "a.cond")
    leads = [one.scores[J] - np.delete(one.scores, J).max() for one in examples()]
    least = MARGIN if "exp" not in statement else np.log(RATIO)
    enough = sum(lead >= least - 1e-6 for lead in leads)
    assert verdict["reason"].startswith(f"in all {enough} examples")
