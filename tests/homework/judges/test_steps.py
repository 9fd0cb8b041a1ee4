"""A step is called false only where it is certain what its letters stand for."""

import pytest

QUERY = r"(b) ii. $q = \beta(k_a + k_b)$ with $\beta \gg 0$. "
MEANS = r"(c) i. $q = \beta(\mu_a + \mu_b)$, $\beta \gg 0$." + "\n\n(c) ii. "
HEADS = r"(d) i. $q_1 = \beta\mu_a$ and $q_2 = \beta\mu_b$, $\beta \gg 0$. "

# name -> (document, step)
FALSE = {
    "the exponential is lost": (
        QUERY + r"$$\alpha_a = \frac{\beta}{2\beta + n - 2}$$",
        "b.q/weights",
    ),
    "two keys too many": (QUERY + r"$$\alpha_a = \frac{e^\beta}{2e^\beta + n}$$", "b.q/weights"),
    "not a half without a scale": (
        r"(b) ii. $q = k_a + k_b$. $$\alpha_a = \frac{e}{2e + (n-2)} \approx \frac{1}{2}$$",
        "b.q/weights",
    ),
    "a score doubled": (QUERY + r"$$k_a^T q = 2\beta$$", "b.q/scores"),
    "the variance is a range": (
        MEANS + r"$k_a \approx \gamma\mu_a$ where $\gamma \in [0.5, 1.5]$.",
        "c.var/range",
    ),
}
# name -> document
SILENT = {
    "a sum over others": QUERY
    + r"$$\alpha_a = \frac{e^\beta}{e^\beta + e^\beta + \sum_{others} e^0} = "
    r"\frac{e^\beta}{2e^\beta + (n-2)}$$",
    "beta is the length": r"(c) i. $q = \mu_a + \mu_b$." + "\n\n"
    r"(c) ii. $k_a \approx \beta\mu_a$, so $$k_a^T q \approx \beta\mu_a^T(\mu_a + \mu_b) = \beta$$",
    "a letter of its own": QUERY + r"$$\alpha_a = \frac{s}{2s + r}$$",
    "an alternative": HEADS
    + r"$$c_1 \approx v_a, \quad c_2 \approx v_b$$ One may also take $q_1 = \beta\mu_b$ and "
    r"$q_2 = \beta\mu_a$, then $c_1 = v_b$ and $c_2 = v_a$.",
    "one case of two": MEANS
    + r"$k_a = \gamma\mu_a$. $$\alpha_a \approx \frac{1}{1 + \exp(\beta(1 - \gamma))} \approx 0$$ "
    r"when $\gamma < 1$.",
    "one plus a small number": MEANS
    + r"$k_a = (1 + \delta)\mu_a$ so $$\alpha_a \approx \frac{e^{\beta(1 + \delta)}}"
    r"{e^{\beta(1 + \delta)} + e^\beta} = \frac{1}{1 + e^{-\beta\delta}}$$",
    "a deviation for a variance": MEANS + r"$$\gamma \sim N(1, \tfrac{1}{\sqrt 2})$$",
    "equal in the limit": QUERY
    + r"$$\alpha_a = \frac{\exp(\beta)}{2\exp(\beta) + (n - 2)} = \frac{1}{2}$$",
    "a course that divides": QUERY
    + r"$$\alpha_a = \frac{e^{\beta/\sqrt{d}}}{2e^{\beta/\sqrt{d}} + n - 2}$$",
    "a deviation": MEANS + r"$k_a = \gamma\mu_a$ with mostly $\gamma \in [0.29, 1.71]$.",
    "the mean score": MEANS + r"On average $$k_a^T q \approx \beta$$ as before.",
    "a Portuguese and": QUERY + "k_a'q = k_b'q = beta e k_i'q = 0 para os outros",
    "cases behind an arrow": MEANS
    + "k_a = g mu_a with g ~ N(1, 1/2)\n"
    + "alpha_b ~= 1 / (1 + exp(beta (g - 1)))\n-> g > 1: c is v_a\n-> g < 1: c is v_b",
    "scores left as they are": QUERY
    + r"$$\alpha_a = \frac{\exp(k_a^T q)}{\sum_j \exp(k_j^T q)} \approx \frac{1}{2}$$",
    "only two keys in the limit": QUERY
    + r"$$\alpha_a \approx \frac{\exp(k_a^Tq)}{\exp(k_a^Tq) + \exp(k_b^Tq)} = \frac{1}{2}$$",
}


@pytest.fixture(scope="module")
def reports(judged_apart):
    return judged_apart([*SILENT.values(), *(document for document, _ in FALSE.values())])


def _flagged(report):
    steps = [step for verdict in report["verdicts"] for step in verdict["steps"]]
    return {s["question"].replace("step:", ""): s for s in steps if s["status"] == "wrong"}


@pytest.mark.parametrize("name", FALSE)
def test_false_steps_are_flagged_with_a_number(reports, name):
    document, step = FALSE[name]
    flagged = _flagged(reports[document])
    assert list(flagged) == [step]
    assert any(c.isdigit() for c in flagged[step]["reason"])


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_certain_is_not_flagged(reports, name):
    assert not _flagged(reports[SILENT[name]])


def test_a_flag_shows_what_the_formula_gives_and_what_the_softmax_gives(reports):
    document, step = FALSE["not a half without a scale"]
    reason = _flagged(reports[document])[step]["reason"]
    assert "this formula gives 0.5" in reason
    assert "the softmax gives 0.2" in reason
