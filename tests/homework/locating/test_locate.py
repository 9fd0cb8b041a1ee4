"""Answers are found under any numbering and without one. Located in one fresh process (see
test_judge)."""

import json
import subprocess
import sys

import pytest

ANSWERS = {
    "a.prob": r"$\alpha_i \ge 0$, $\sum_i \alpha_i = 1$",
    "a.cond": r"$k_j^T q \gg k_i^T q$ for all $i \neq j$",
    "a.out": r"$c \approx v_j$",
    "b.M": r"$M = A A^T$",
    "b.q": r"$q = \beta(k_a + k_b)$, $\beta \gg 0$",
    "c.q": r"$q = \beta(\mu_a + \mu_b)$, $\beta \gg 0$",
    "c.var": r"$\gamma > 1$: $c \approx v_a$, $\gamma < 1$: $c \approx v_b$",
    "d.q": r"$q_1 = \beta\mu_a$, $q_2 = \beta\mu_b$",
    "d.var": r"$c \approx \frac{1}{2}(v_a + v_b)$",
}
PLACES = {
    "roman": [
        "(a) i.",
        "(a) ii.",
        "(a) iii.",
        "(b) i.",
        "(b) ii.",
        "(c) i.",
        "(c) ii.",
        "(d) i.",
        "(d) ii.",
    ],
    "bold": [
        "**1(a)(i)**",
        "**1(a)(ii)**",
        "**1(a)(iii)**",
        "**1(b)(i)**",
        "**1(b)(ii)**",
        "**1(c)(i)**",
        "**1(c)(ii)**",
        "**1(d)(i)**",
        "**1(d)(ii)**",
    ],
    "headed": [
        "### a.i",
        "### a.ii",
        "### a.iii",
        "### b.i",
        "### b.ii",
        "### c.i",
        "### c.ii",
        "### d.i",
        "### d.ii",
    ],
    "inner": ["1a)", "1b)", "1c)", "2a)", "2b)", "3a)", "3b)", "4a)", "4b)"],
}
SECTIONS = """# 1.1 Copying in attention
(a)

{a.prob}

(b)

{a.cond}

(c)

{a.out}

# 1.2 An average of two
(a)

{b.M}

(b)

{b.q}

# 2.1 Drawbacks of single-headed attention
(a)

{c.q}

(b)

{c.var}

# 2.2 Benefits of multi-headed attention
(a)

{d.q}

(b)

{d.var}
"""
PROGRAM = """
import json, sys
from headwright.homework import check
reports = [check(text) for text in json.load(sys.stdin)]
print(json.dumps([{v.question: v.status for v in report.verdicts} for report in reports]))
"""


def filled(template):
    for question, answer in ANSWERS.items():
        template = template.replace("{" + question + "}", answer)
    return template


DOCUMENTS = {
    name: "\n\n".join(
        f"{label} {answer}" if "#" not in label else f"{label}\n{answer}"
        for label, answer in zip(labels, ANSWERS.values(), strict=True)
    )
    for name, labels in PLACES.items()
} | {"sections": filled(SECTIONS)}
PARTIAL = {
    "only b and d": ("(b) ii. " + ANSWERS["b.q"] + "\n\n(d) i. " + ANSWERS["d.q"], {"b.q", "d.q"}),
    "keys in part c": ("(c) i. " + ANSWERS["b.q"], {"c.q"}),
    "no numbering": (
        "\n\n".join(ANSWERS[k] for k in ("a.prob", "a.cond", "a.out", "b.M", "b.q", "c.q", "d.q")),
        {"a.prob", "a.cond", "a.out", "b.M", "b.q", "c.q", "d.q"},
    ),
    "another subject": (
        "# Databases\n\n1. Indexes make reads faster.\n\n2. $R \\bowtie S$ is a join.",
        set(),
    ),
    "nothing": ("", set()),
}
RESTATED = """\
(b) ii. [2 points] Find a query $q$ such that $c \\approx \\frac{1}{2}(v_a + v_b)$ and $Ms = v_a$.

**Answer:** $q = \\beta(k_a + k_b)$

(d) ii. [2 points] What does $c$ look like?

**Answer:** Hard to say.
"""
EMPTY = """\
(c) i. $q = \\beta(\\mu_a+\\mu_b)$

(c) ii.

(d) i. $q_1 = \\beta\\mu_a$, $q_2=\\beta\\mu_b$
"""


@pytest.fixture(scope="module")
def statuses():
    texts = [*DOCUMENTS.values(), *(t for t, _ in PARTIAL.values()), RESTATED, EMPTY]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(texts, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_numbering_leads_to_every_answer(statuses, name):
    found = statuses[DOCUMENTS[name]]
    assert {q: found.get(q) for q in ANSWERS} == dict.fromkeys(ANSWERS, "correct")


@pytest.mark.parametrize("name", PARTIAL)
def test_only_what_is_there_is_found(statuses, name):
    text, wanted = PARTIAL[name]
    assert {q for q, s in statuses[text].items() if s != "unread"} == wanted


def test_a_formula_of_the_question_is_no_answer(statuses):
    found = statuses[RESTATED]
    assert found["b.q"] == "correct"
    assert found.get("d.var", "unread") == "unread"
    assert "b.M" not in found or found["b.M"] == "unread"


def test_a_label_with_nothing_under_it_is_missing(statuses):
    found = statuses[EMPTY]
    assert found["c.var"] == "missing"
    assert "a.cond" not in found  # a course may not ask it: absent is not missing
