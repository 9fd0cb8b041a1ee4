"""The handout's sentences are told from the student's by how they talk: who asks, who answers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from headwright.homework.reading.formats import read_text


def voices(text: str, suffix: str = ".md") -> tuple[str, str]:
    """What the handout says, and what the student says."""
    segments = read_text(text, name="t", suffix=suffix).segments
    asked = " ".join(s.text for s in segments if s.voice == "question")
    answered = " ".join(s.text for s in segments if s.voice != "question")
    return asked, answered


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Find $q$ with $c = v_j$.", "$q = k_j$ does it."),
        ("Please say briefly when that holds. Explain your reasoning.", "The gap is large."),
        ("Keys are random. Based on part (a), describe the output.", "It is a copy."),
        ("Assume unit keys. Design a query. Hint: scale it.", "A sum of both keys."),
        ("Which key wins if the others are orthogonal?", "The aligned one."),
        ("请用一句话说明什么时候权重集中。", "点积远大于其他时。"),
        ("假设键正交，请给出一个查询。（提示：放大。）", "取两个键之和。"),
        ("출력을 한 문장으로 서술하시오.", "하나의 값을 복사한다."),
        ("出力を述べよ。", "一つの値に近い。"),
        ("Describa la salida en una frase.", "Copia un valor."),
        ("Descreva a saída. Dica: um peso domina.", "Copia um valor."),
        ("Beschreiben Sie die Ausgabe und begründen Sie Ihre Antwort.", "Sie ist ein Wert."),
        ("Décrivez la sortie en une phrase.", "Elle copie une valeur."),
        ("Spiega perché i pesi sono una distribuzione.", "La somma è uno."),
        ("Опишите выход одним предложением.", "Это копия значения."),
        ("Opisz wyjście.", "To kopia wartości."),
    ],
)
@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_the_answer_begins_behind_the_last_sentence_that_asks(question, answer, between):
    asked, answered = voices(f"(a) {question}{between}{answer}")
    words = "".join(asked.split())
    assert words == "".join(question.replace("$", "").split())
    assert "".join(answered.split()) == "".join(answer.replace("$", "").split())


@pytest.mark.parametrize(
    "answer",
    [
        "We want to find a query. Suppose it is a sum. Why does it work? It is even.",
        "Suppose $k_a = \\gamma\\mu_a$. Then $c$ moves. What does this mean? It is unstable.",
        "In this question we set $q = \\beta(k_a + k_b)$.",
        "What must be true is that one score is far larger.",
        "Consider $q = \\beta k_a$. Show: $k_a^T q = \\beta$.",
        "It depends: is $\\gamma > 1$? Then $c \\approx v_a$.",
        "If you sample often, you get either value.",
        "Think of it as a lookup.",
        "求和为一，你可以看到它是分布。这就是为什么叫权重。",
        "$c$ 在两个值之间摆动，说明单头不稳定。",
        "총합이 1이므로 분포이다. 계산해 보자.",
        "Oscila entre los dos valores. ¿Por qué? Porque la norma cambia.",
    ],
)
def test_a_student_who_asks_or_supposes_is_not_the_handout(answer):
    asked, _ = voices(f"(a) {answer}\n\n(b) $x$\n\n(c) $y$\n\n(d) $z$")
    assert asked == ""


def test_the_display_of_a_question_belongs_to_it_and_the_next_to_the_answer():
    text = "(b) Find a query such that\n$$c \\approx \\frac12(v_a + v_b).$$\n$$q = \\beta k$$"
    asked, answered = voices(text)
    assert asked.endswith("(v_a + v_b).")
    assert answered == r"q = \beta k"


def test_what_a_part_says_before_its_questions_is_the_handouts():
    text = "(c) Random keys. Consider keys with means $\\mu_i$.\n\n"
    text += "i. Design a query.\n\n$q = \\mu_a$\n\nii. Describe the output.\n\nIt moves."
    _, answered = voices(text)
    assert answered == r"q = \mu_a It moves."


def test_an_answer_that_gives_orders_is_kept_where_no_handout_stands():
    text = "(a) $x$\n\n(b) $y$\n\n(c) $z$\n\n(e) Give each head its own key so that noise averages."
    asked, _ = voices(text)
    assert asked == ""


def test_a_command_of_one_argument_is_an_answer_and_ends():
    text = (
        "\\begin{document}\\item Find $x$. \\ifans{$y$} \\item Find $z$. \\ifans{}\\end{document}"
    )
    segments = read_text(text, name="t", suffix=".tex").segments
    spoken = [(s.text, s.voice) for s in segments if s.kind == "math"]
    assert spoken == [("x", "question"), ("y", "answer"), ("z", "question")]


def test_quotation_marks_of_tex_are_no_code():
    text = "\\begin{document}It is ``diffuse'': $a$ and $b$ are ``small''.\\end{document}"
    segments = read_text(text, name="t", suffix=".tex").segments
    assert [s.text for s in segments if s.kind == "math"] == ["a", "b"]


def test_a_cut_sentence_knows_its_lines():
    segments = read_text("(a) Describe it.\nA copy.", name="t", suffix=".md").segments
    assert [(s.text, s.line_start, s.line_end) for s in segments] == [
        ("Describe it.", 1, 1),
        ("A copy.", 2, 2),
    ]


PIECES = ["? ", ", ", "Find ", "请", "a. ", "\n\n", "$x$ ", "(a) Find. ", "what must ", "¿", "k q"]
PROGRAM = """
import json, sys, time
from headwright.homework.reading.formats import read_text
for piece in json.load(sys.stdin):
    started = time.perf_counter()
    read_text(piece * (40_000 // len(piece)), name="t", suffix=".md")
    assert time.perf_counter() - started < 30, piece
"""


def test_long_documents_of_anything_are_read_in_time():
    """In a process without the run-time checks of tests, which cost more than the reading."""
    command = [sys.executable, "-c", PROGRAM]
    subprocess.run(command, input=json.dumps(PIECES), text=True, check=True, timeout=300)
