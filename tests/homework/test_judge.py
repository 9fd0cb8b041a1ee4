"""What careful graders say, answer by answer. All rows are judged in one fresh process: the
run-time checks of shapes that test runs switch on make a judgement a hundred times slower and are
exercised by the unit tests."""

import json
import subprocess
import sys

import pytest

# (label, answer, question, status)
ROWS = [
    ("(a) i.", r"$\alpha_i \ge 0$ and $\sum_i \alpha_i = 1$", "a.prob", "correct"),
    ("(a) i.", r"$\sum_i \alpha_i = 1$", "a.prob", "incomplete"),
    ("(a) i.", r"The weights are non-negative and sum to one.", "a.prob", "correct"),
    ("(a) ii.", r"$k_j^T q \gg k_i^T q$ for all $i \ne j$", "a.cond", "correct"),
    ("(a) ii.", r"$k_j^T q > k_i^T q$ for all $i \ne j$", "a.cond", "incomplete"),
    ("(a) ii.", r"$k_j \gg k_i$ for all $i \ne j$", "a.cond", "wrong"),
    ("(a) ii.", r"$k_j^T q \ll k_i^T q$ for all $i \ne j$", "a.cond", "wrong"),
    ("(a) ii.", r"$\exp(k_j^T q) \gg \sum_{i \ne j} \exp(k_i^T q)$", "a.cond", "correct"),
    (
        "(a) ii.",
        r"$k_j^T q - k_i^T q \geq \ln\frac{(n-1)(1-\epsilon)}{\epsilon}$ for all $i \neq j$",
        "a.cond",
        "correct",
    ),
    ("(a) ii.", r"$\exp(k_j^T q) \gg \exp(k_i^T q)$ for all $i \ne j$", "a.cond", "correct"),
    *(
        ("(a) ii.", rf"$k_j^T q - k_i^T q \geq {lead:g}$ for all $i \ne j$", "a.cond", status)
        # alpha_j = 1 / (1 + 9 exp(-lead)) at n = 10 is at least 0.9 from ln 81 = 4.39 on.
        for lead, status in (
            (0.5, "incomplete"),
            (2, "incomplete"),
            (4.1, "incomplete"),
            (4.3, "incomplete"),
            (4.4, "correct"),
            (5, "correct"),
            (12, "correct"),
        )
    ),
    ("(a) ii.", r"$k_j^T q \to \infty$", "a.cond", "incomplete"),
    ("(a) ii.", r"$q \approx k_j$", "a.cond", "incomplete"),
    ("(a) ii.", "The query and the key are similar.", "a.cond", "unread"),
    ("(a) iii.", r"$c \approx v_j$", "a.out", "correct"),
    ("(a) iii.", r"$c = \sum_i \alpha_i v_i \approx \alpha_j v_j \approx v_j$", "a.out", "correct"),
    ("(a) iii.", r"$c \approx k_j$", "a.out", "wrong"),
    ("(a) iii.", r"$c \approx \frac{1}{2} v_j$", "a.out", "wrong"),
    ("(b) i.", r"$M = A A^T$", "b.M", "correct"),
    ("(b) i.", r"$M = I - B B^T$", "b.M", "correct"),
    ("(b) i.", r"if $M = A^T$ we get coordinates; then $M = A A^T$", "b.M", "correct"),
    ("(b) i.", r"$M = A^T$", "b.M", "wrong"),
    ("(b) i.", r"$M = 10^{400} A A^T$", "b.M", "unread"),
    ("(b) i.", r"$M = A^T A$", "b.M", "wrong"),
    ("(b) i.", r"$M = \frac{v_a v_a^T}{v_a^T v_a}$", "b.M", "incomplete"),
    ("(b) i.", r"$M = \frac{v_b v_b^T}{v_b^T v_b}$", "b.M", "wrong"),
    ("(b) i.", r"$\boxed{M = A A^T}$. Note that $M = A^T$ is smaller.", "b.M", "correct"),
    ("(b) i.", r"$M = A A^T$. So $\boxed{M = A^T}$, and $M = A A^T$ is too large.", "b.M", "wrong"),
    ("(b) i.", r"$M = A B^T$", "b.M", "wrong"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$, $\beta \gg 0$", "b.q", "correct"),
    ("(b) ii.", r"$q = C(k_a + k_b)$ where $C$ is a large constant", "b.q", "correct"),
    ("(b) ii.", r"$q = (\text{a large number}) (k_a + k_b)$", "b.q", "correct"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta > 0$", "b.q", "incomplete"),
    # Off by 8 / (2 e^beta + 8) / 2 at n = 10: 0.02 at beta = 4.56.
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta = 0.1$", "b.q", "wrong"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta = 2$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta = 4.5$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta = 4.6$", "b.q", "correct"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta \geq 4.5$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta > 0.5$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = \beta(k_a + k_b)$ with $\beta \geq 8$", "b.q", "correct"),
    ("(b) ii.", r"$q = 4.5(k_a + k_b)$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = 4.6(k_a + k_b)$", "b.q", "correct"),
    (
        "(b) ii.",
        r"$\boxed{q = \beta(k_a + k_b)}$, $\beta \gg 0$. And $q = k_a$ copies.",
        "b.q",
        "correct",
    ),
    ("(b) ii.", r"$q = \langle \i, k_b \rangle$", "b.q", "unread"),
    ("(b) ii.", r"$q = k_a + k_b$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = \frac{1}{2}(k_a + k_b)$", "b.q", "wrong"),
    ("(b) ii.", r"$q = \beta(k_a - k_b)$, $\beta \gg 0$", "b.q", "wrong"),
    ("(b) ii.", r"$q = -\beta(k_a + k_b)$, $\beta \gg 0$", "b.q", "wrong"),
    ("(b) ii.", r"$q = \beta(k_a + k_a)$, $\beta \gg 0$", "b.q", "wrong"),
    ("(b) ii.", r"$q = \beta(k_a + 2 k_b)$, $\beta \gg 0$", "b.q", "wrong"),
    (
        "(b) ii.",
        r"$q = \beta(k_a + k_b) - 100 \sum_{i \notin \{a,b\}} k_i$, $\beta\gg 0$",
        "b.q",
        "correct",
    ),
    ("(b) ii.", r"$q = C_1 k_a + C_2 k_b$, $C_1, C_2 \gg 0$", "b.q", "incomplete"),
    ("(b) ii.", r"$q = 9^{9^{9^9}} (k_a + k_b)$", "b.q", "unread"),
    ("(c) i.", r"$q = \beta(\mu_a + \mu_b)$, $\beta \gg 0$", "c.q", "correct"),
    ("(c) i.", r"$q = \beta(u_a + u_b)$, $\beta \to \infty$", "c.q", "correct"),
    ("(c) i.", r"$q = \alpha^{-1/4}(\mu_a + \mu_b)$", "c.q", "correct"),
    ("(c) i.", r"$q = \alpha^{-1}(\mu_a + \mu_b)$", "c.q", "incomplete"),
    ("(c) i.", r"$q = \beta(k_a + k_b)$, $\beta \gg 0$", "c.q", "incomplete"),
    ("(c) i.", r"$q = \frac{1}{2}(\mu_a + \mu_b)$", "c.q", "wrong"),
    (
        "(c) ii.",
        r"$\gamma > 1$: $c \approx v_a$; $\gamma < 1$: $c \approx v_b$",
        "c.var",
        "correct",
    ),
    ("(c) ii.", r"$\gamma > 1$: $c \approx v_b$; $\gamma < 1$: $c \approx v_a$", "c.var", "wrong"),
    ("(c) ii.", r"$\alpha_a = \frac{1}{1 + \exp(\beta(1 - \gamma))}$", "c.var", "correct"),
    ("(c) ii.", r"$\alpha_a = \frac{\gamma}{1 + \gamma}$", "c.var", "wrong"),
    (
        "(c) ii.",
        "The output will vary a lot because the key varies a lot from one sample to the next one.",
        "c.var",
        "unread",
    ),
    ("(d) i.", r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$, $\beta \gg 0$", "d.q", "correct"),
    ("(d) i.", r"$q_1 = \beta\mu_b$, $q_2 = \beta\mu_a$", "d.q", "correct"),
    ("(d) i.", r"$q_a = C_1 \mu_a$, $q_b = C_2 \mu_b$", "d.q", "correct"),
    ("(d) i.", r"$q_1 = \mu_a$, $q_2 = \mu_b$", "d.q", "incomplete"),
    ("(d) i.", r"$q_1 = \alpha$, $q_2 = \mu_b$", "d.q", "wrong"),
    ("(d) i.", r"$q_1 = q_2 = \beta(\mu_a + \mu_b)$", "d.q", "incomplete"),
    ("(d) i.", r"$q_1 = \beta(\mu_a + \mu_b)$, $q_2 = \beta(\mu_a - \mu_b)$", "d.q", "wrong"),
    ("(d) ii.", r"$c \approx \frac{1}{2}(v_a + v_b)$", "d.var", "correct"),
    ("(e) i.", r"$c_2 \approx x_2 = u_a$", "e.c2", "correct"),
    ("(e) i.", r"$c_2 \approx u_b$, as $x_1 = u_d + u_b$", "e.c2", "wrong"),
    (
        "(e) ii.",
        r"$V = (u_b u_b^T - u_c u_c^T)/\beta^2$, $K = I$, $Q = (u_d u_a^T + u_c u_d^T)/\beta^2$",
        "e.KQV",
        "correct",
    ),
    (
        "(e) ii.",
        r"$V = (u_b u_b^T + u_c u_c^T)/\beta^2$, $K = I$, $Q = (u_d u_a^T + u_c u_d^T)/\beta^2$",
        "e.KQV",
        "wrong",
    ),
    ("(e) ii.", r"$V = I$, $K = I$, $Q = 10^{400}$", "e.KQV", "unread"),
    ("Permutation:", r"$\text{Attention}(PX) = P\,\text{Attention}(X)$", "p.perm", "unread"),
    ("Permutation:", r"$\text{Attention}(XP) = \text{Attention}(X)P$", "p.perm", "wrong"),
    ("Position embeddings help:", r"$PX + \Phi \neq P(X + \Phi)$", "p.help", "correct"),
    ("Position embeddings help:", r"$PX + \Phi = P(X + \Phi)$", "p.help", "wrong"),
    ("Position embeddings help:", r"$PX + P\Phi \neq P(X + \Phi)$", "p.help", "wrong"),
]

# (answer, step, status)
STEPS = [
    (
        r"(b) ii. $q = \beta(k_a+k_b)$, $\beta\gg0$. "
        r"$$\alpha_a = \frac{e^\beta}{n-2+2e^\beta} \approx \frac{1}{2}$$",
        "b.q/step:weights",
        "correct",
    ),
    (
        r"(b) ii. $q = \beta(k_a+k_b)$, $\beta\gg0$. "
        r"$$\alpha_a = \frac{e^\beta}{n+2e^\beta} \approx \frac{1}{2}$$",
        "b.q/step:weights",
        "wrong",
    ),
    (
        r"(b) ii. $q = \beta(k_a+k_b)$, $\beta\gg0$. $$\alpha_a = \frac{\beta}{n-2+2\beta}$$",
        "b.q/step:weights",
        "wrong",
    ),
    (r"(b) ii. $q = C(k_a+k_b)$. $$k_a^T q = C, \quad k_b^T q = 2C$$", "b.q/step:scores", "wrong"),
    (r"(c) ii. $k_a = \gamma\mu_a$, $$\gamma \in [0.5, 1.5]$$", "c.var/step:range", "wrong"),
    (r"(c) ii. $$\gamma \sim N(1, \frac{1}{2})$$", "c.var/step:gamma", "correct"),
    (r"(c) ii. $$\gamma_b \sim N(1, \frac{1}{2})$$", "c.var/step:gamma_b", "wrong"),
    (r"(c) ii. $$\gamma \sim N(1, \frac{1}{4})$$", "c.var/step:gamma", "wrong"),
    (
        r"(d) i. $q_1=\beta\mu_a$, $q_2=\beta\mu_b$, $\beta\gg0$ "
        r"$$c_1 \approx v_a, \quad c_2 \approx v_a$$",
        "d.q/step:c2",
        "wrong",
    ),
]

PROGRAM = """
import json, sys
from headwright.homework import check
from headwright.result import plain
print(json.dumps([plain(check(text)) for text in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def reports():
    """text -> report, judged by one fresh interpreter."""
    texts = [f"{label} {answer}" for label, answer, _, _ in ROWS] + [
        answer for answer, _, _ in STEPS
    ]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(texts, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(
    ("label", "answer", "question", "status"), ROWS, ids=[f"{q} {a[:40]}" for _, a, q, _ in ROWS]
)
def test_answers(reports, label, answer, question, status):
    verdicts = {v["question"]: v for v in reports[f"{label} {answer}"]["verdicts"]}
    assert question in verdicts, verdicts
    verdict = verdicts[question]
    assert verdict["status"] == status, verdict["reason"]
    if status in ("wrong", "incomplete"):
        assert verdict["reason"]
        assert verdict["repair"]


@pytest.mark.parametrize(
    ("answer", "step", "status"), STEPS, ids=[f"{s} {a[-30:]}" for a, s, _ in STEPS]
)
def test_steps(reports, answer, step, status):
    steps = {s["question"]: s for v in reports[answer]["verdicts"] for s in v["steps"]}
    assert steps[step]["status"] == status, steps


def test_spans_point_into_the_document(reports):
    for text, report in reports.items():
        for verdict in report["verdicts"]:
            assert 0 <= verdict["span"]["start"] <= verdict["span"]["end"] <= len(text)


def test_two_heads_come_with_the_remark_about_the_flip(reports):
    verdict = next(
        v
        for v in reports[r"(d) i. $q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$, $\beta \gg 0$"][
            "verdicts"
        ]
    )
    assert any("7.86%" in remark for remark in verdict["remarks"])


def test_much_larger_leaves_nothing_to_the_others(reports):
    """`>>` between scores is a difference of 20: nine rivals share 2e-8, and fifty would share
    1e-7."""
    verdict = next(
        v for v in reports[r"(a) ii. $k_j^T q \gg k_i^T q$ for all $i \ne j$"]["verdicts"]
    )
    assert "alpha_j >= 1.000" in verdict["reason"]


def test_every_test_of_the_bank_has_a_judge():
    """In a process of its own, as above: the judges are not imported where documents are not
    judged."""
    program = (
        "from headwright.exercise.bank import TESTS; from headwright.homework import one_answer; "
        "assert list(one_answer.JUDGES) == list(TESTS) and set(one_answer.STEPS) <= set(TESTS)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
