"""The question bank: the built-in one is complete, a teacher's file is read by the same rules."""

import pytest

from headwright.errors import InputError
from headwright.exercise.bank import load

IDS = [
    "a.prob",
    "a.cond",
    "a.out",
    "a.intu",
    "b.M",
    "b.q",
    "c.q",
    "c.var",
    "d.q",
    "d.var",
    "e.sum",
    "e.c2",
    "e.KQV",
    "p.perm",
    "p.why",
    "p.help",
    "p.same",
]

OWN = """
title = "Mixtures"

[[question]]
id = "m.q"
title = "Seven parts of a, three of b"
asked = "Give q with c ~ 0.7 v_a + 0.3 v_b."
test = "query"
labels = ["a.1"]
[question.parameters]
vectors = "keys"
target = { a = 0.7, b = 0.3 }
[question.shapes]
"query of keys" = 5
"""


def test_the_built_in_bank_has_every_question_of_the_exercise():
    bank = load()
    assert [q.id for q in bank] == IDS
    assert all(q.explain and q.asked and q.title for q in bank)


def test_a_teachers_bank_is_read(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN, "utf-8")
    assert load(path)["m.q"].parameters["target"] == {"a": 0.7, "b": 0.3}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (('test = "query"', 'test = "magic"'), "a test among"),
        (("a = 0.7", "a = 0.9"), "sum to 1"),
        (("asked =", "question ="), "'asked' as text"),
        (("labels =", "label ="), "the keys"),
        (('"query of keys" = 5', '"query of keys" = "much"'), "numbers in shapes"),
        (('labels = ["a.1"]', "labels = 3"), "labels as a list"),
        (("[[question]]", "[question]"), "[[question]] tables"),
        (('title = "Mixtures"', "title = "), "question bank in TOML"),
        (
            ('"query of keys" = 5', '"query of keys" = 5\n[question.words]\n"(" = 1'),
            "regular expressions",
        ),
    ],
)
def test_a_faulty_bank_says_what_is_wrong(tmp_path, change, wanted):
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(*change), "utf-8")
    with pytest.raises(InputError, match=wanted.replace("[", r"\[")):
        load(path)


def test_unknown_ids_and_files_are_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"one of a\.prob"):
        load()["z.z"]
    with pytest.raises(InputError, match="readable TOML"):
        load(tmp_path / "none.toml")
