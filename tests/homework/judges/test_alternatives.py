"""Phrases looked for one by one, after a glance at the words they need, are found as the one
expression of all of them finds them."""

import contextlib
import re
import tomllib
from pathlib import Path

import pytest

from headwright.homework.judges.points import rubric
from headwright.homework.judges.points.alternatives import Alternatives
from headwright.homework.judges.points.needs import Needs
from headwright.homework.judges.points.phrases import Phrases

ANSWERS = tomllib.loads(Path(__file__).with_name("prose.toml").read_text("utf-8"))
PARTS = {"output": "c|(?:the )?output", "near": "near|close to"}


def texts():
    """Every answer in words, with the underscores and the case that sentences have."""
    return [text for by_verdict in ANSWERS.values() for row in by_verdict.values() for text in row]


def in_one_expression(phrases: Phrases, language: str, text: str):
    pattern = phrases.pattern(language)
    match = pattern.search(text)
    while match is not None:
        yield match.span(), [group for group in match.groups() if group is not None]
        match = pattern.search(text, match.start() + 1)


@pytest.mark.parametrize("language", ["en", "zh", "fr"])
def test_the_same_matches_as_of_one_expression(language):
    found = 0
    some = texts()[::6]
    for name in rubric.names():
        for point in rubric.rubric(name).points:
            for phrases in (point.said, point.denied, point.unless):
                if language not in phrases.languages:
                    continue
                for text in some:
                    one_by_one = [
                        (match.span(), [group for group in match.groups() if group is not None])
                        for match in phrases.alternatives(language).matches(text)
                    ]
                    assert one_by_one == list(in_one_expression(phrases, language, text)), text
                    found += len(one_by_one)
    assert found > 20


@pytest.mark.parametrize(
    ("phrase", "needed"),
    [
        ("plain words", [["plain words"]]),
        ("sums? to one", [["sum"], ["to one"]]),
        ("colou*r", [["colo"], ["r"]]),
        ("a{0,2}b", [["b"]]),
        ("(?:one|two) heads", [["one", "two"], ["heads"]]),
        ("(?:one )?head", [["head"]]),
        ("(?:one|t?)x", [["x"]]),
        ("stays|moves away", [["stays", "moves away"]]),
        ("(?:<output>|v_j) ‥ u_a(?! ?[-+])", [["c", "output", "v_j"], ["u_a"]]),
        ("<near> … <output>", [["near", "close to"], ["c", "output"]]),
        (r"near\w*[^.+]{0,20}(?<!not )u_b", [["near"], ["u_b"]]),
        ("[kq]_", [["_"]]),
        ("0 ?<=? ?x", [["0"], ["x"]]),
        ("(?<=[,;])(?!no)", []),
        ("STRAßE", [["strasse"]]),
    ],
)
def test_what_a_phrase_needs(phrase, needed):
    assert Needs(PARTS.__getitem__).of(phrase) == needed


@pytest.mark.parametrize("text", ["İt İs", "ıt ıs", "IT IS", "it iſ"])
def test_what_differs_in_case_only_is_looked_at(text):
    phrases = Alternatives(["it is"], lambda phrase: phrase, Needs(PARTS.__getitem__))
    whole = re.compile("it is", re.IGNORECASE)
    assert [match.span() for match in phrases.matches(text)] == [whole.search(text).span()]


@pytest.mark.parametrize(
    ("text", "looked_at"),
    [
        ("The output is near u_a.", True),
        ("Near u_a is the OUTPUT.", False),
        ("The outpu is near u_a.", False),
    ],
)
def test_a_phrase_is_compiled_where_its_words_stand_in_their_order(text, looked_at):
    made = []
    phrases = Alternatives(["output … near"], made.append, Needs(PARTS.__getitem__))
    with contextlib.suppress(TypeError):  # nothing is no expression
        list(phrases.matches(text))
    assert bool(made) == looked_at
