"""Words that carry mathematics, in several languages; and what they must not be taken for."""

import re

import pytest

from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Symbol
from headwright.homework.meaning.formulas_in_prose import formula_spans, with_scripts
from headwright.homework.meaning.scale_size import size_of
from headwright.homework.meaning.statements import Said, Statement, stream
from headwright.homework.reading.document import Document, Segment


@pytest.mark.parametrize(
    "text",
    [
        "a large number",
        "很大的常数",
        "große Zahl",
        "big constant",
        "duża liczba",
        "큰 상수",
        "большое число",
        "un gran número",
    ],
)
def test_large_numbers(text):
    assert words.large_number(text)


def _by_itself(text):
    parted = re.match(r"[\w(]", text) and not words.unspaced(text)
    return rf"(?<![^\W\d_])(?:{text})(?![^\W\d_])" if parted else text


def test_shared_bounds_change_no_match():
    """Fragments with bounds of their own, against neighbours that share theirs: the same matches in
    the words alone and in longer words."""
    for meaning, by_language in words._table().items():
        fragments = [text for texts in by_language.values() for text in texts]
        alone = re.compile("|".join(map(_by_itself, fragments)), re.IGNORECASE)
        shared = words.any_of(fragments)
        plain = [re.sub(r"[^\w ]+", "", text) for text in fragments]
        inside = [form for word in plain for form in (f"a {word}, {word}", f"x{word} {word}x")]
        for text in inside:
            spans = [match.span() for match in alone.finditer(text)]
            assert [match.span() for match in shared.finditer(text)] == spans, meaning


@pytest.mark.parametrize(
    "text",
    [
        "a number",
        "the keys",
        "then",
        "或",
        "large language models are trained on a lot of text in many languages",
    ],
)
def test_other_words_are_no_numbers(text):
    assert not words.large_number(text)


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("is much larger than", ">>"),
        ("would have to significantly greater than", ">>"),
        ("远大于其他", ">>"),
        ("ist viel größer als", ">>"),
        ("soit beaucoup plus grand que", ">>"),
        ("намного больше", ">>"),
        ("is greater than", ">"),
        ("大于", ">"),
        ("is much smaller than", "<<"),
        ("stays close to", "~="),
        ("is not much larger than", None),
        ("and", None),
        ("is much larger. Then", None),
    ],
)
def test_comparisons(text, relation):
    assert words.comparison(text) == relation


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("so q = beta*(k_a + k_b) with beta >> 0 holds", ["q = beta*(k_a + k_b)", "beta >> 0"]),
        ("设 q = β(kₐ + k_b)，其中 β ≫ 0。", ["q = β(kₐ + k_b)", "β ≫ 0"]),
        ("This is a sentence about a key and its value.", []),
        ("see https://example.org/?a=b for more", []),
        ("Thus M = A AT.", ["M = A AT"]),
    ],
)
def test_islands_of_formulas_in_prose(text, found):
    assert [text[a:b] for a, b in formula_spans(text)] == found


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("q = ka + kb", "q = k_a + k_b"),
        ("M = AAT", "M = A A^T "),
        ("kjT q", "k_j^T  q"),
        ("M = A @ A.T", "M = A @ A^T "),
    ],
)
def test_lost_scripts(text, spelled):
    assert with_scripts(text) == spelled


def pieces(*segments):
    made, at = [], 0
    for kind, text in segments:
        made.append(
            Segment(kind=kind, text=text, start=at, end=at + len(text), line_start=1, line_end=1)
        )
        at += len(text)
    return stream(Document("d", "".join(t for _, t in segments), tuple(made)))


@pytest.mark.parametrize(
    ("segments", "said"),
    [
        ([("math", r"\beta \gg 0")], "large"),
        ([("math", r"\beta > 0")], "positive"),
        ([("math", r"\beta \to \infty")], "large"),
        ([("math", r"\beta \geq 100")], "large"),
        ([("math", r"\beta = 3")], "number"),
        ([("math", r"\beta"), ("prose", "is a very large constant")], "large"),
        ([("math", r"\beta"), ("prose", "是一个足够大的数")], "large"),
        ([("prose", "where β is large")], "large"),
        ([("math", r"\beta"), ("prose", "is any positive constant")], "any"),
        ([("math", r"\beta \ll 1")], "small"),
        ([("math", r"\gamma \gg 0")], "nothing"),
        ([("math", r"\alpha, \beta \gg 0")], "large"),
    ],
)
def test_sizes(segments, said):
    assert size_of(Symbol("beta"), pieces(*segments)).said == said


def test_words_between_two_scores_become_a_relation():
    found = pieces(
        ("math", "k_i^T q"), ("prose", "is significantly greater than"), ("math", "k_j^T q")
    )
    assert [type(p) for p in found] == [Statement]
    assert found[0].chain.relations == (">>",)


def test_an_equation_may_go_on_in_the_next_block():
    found = pieces(("math", "c = v_a ="), ("math", "= v_b"))
    assert found[0].chain.relations == ("=", "=")
    assert not any(isinstance(p, Said) for p in found)
