"""The schema and the reader agree about rubrics, as far as a schema can say."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files

import pytest

from headwright.course.rubric import read_rubric
from headwright.course.rubric.record import SHARES, VISIBILITIES
from headwright.errors import InputError
from headwright.exercise.bank import load

SCHEMA = json.loads(files("headwright.course.rubric").joinpath("rubric.schema.json").read_text())
BANK = load()
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float)}
QUESTION = '[question."b.q"]\n'
OVERRIDE = '[[override]]\nstudent = "u1"\nquestion = "b.q"\npoints = 1\nreason = "oral"\n'
FAULT = '[[question."b.q".fault]]\nsays = "scale"\ntext = "Read lecture 8."\n'
# A schema cannot say these; the reader does.
BEYOND = [
    '[question."z.z"]\npoints = 1\n',
    f"total = 7\n{QUESTION}points = 2\n",
    OVERRIDE + OVERRIDE,
    OVERRIDE.replace("points = 1", "points = 99"),
    FAULT.replace("scale", "("),
    "total = inf\n",
]
ACCEPTED = [
    "",
    'title = "Exercise 5"\n',
    f"total = 2\n{QUESTION}points = 2\n",
    "[shares]\nincomplete = 0.5\nunread = 0\n",
    *(f'{QUESTION}visibility = "{word}"\n' for word in VISIBILITIES),
    *(f'{QUESTION}texts = {{ {status} = "Look again." }}\n' for status in SHARES),
    f"{QUESTION}steps = 0.25\nshares = {{ wrong = 0.1 }}\n",
    FAULT,
    FAULT + "share = 0.5\n",
    QUESTION + OVERRIDE,
]
REFUSED = [
    "colour = 1\n",
    "total = -1\n",
    'total = "2"\n',
    "total = true\n",
    "shares = 1\n",
    "[shares]\nright = 1\n",
    "[shares]\ncorrect = 1.1\n",
    "question = 3\n",
    'question = { "b.q" = 3 }\n',
    f"{QUESTION}worth = 3\n",
    f"{QUESTION}points = -3\n",
    f"{QUESTION}steps = 2\n",
    f'{QUESTION}visibility = "seen"\n',
    f'{QUESTION}texts = {{ wrong = " " }}\n',
    f'{QUESTION}texts = {{ bad = "no" }}\n',
    f"{QUESTION}fault = 3\n",
    FAULT.replace('text = "Read lecture 8."\n', ""),
    FAULT + 'tone = "kind"\n',
    FAULT + "share = 1.5\n",
    "override = 3\n",
    *(OVERRIDE.replace(line, "") for line in OVERRIDE.splitlines(keepends=True)[1:]),
    OVERRIDE.replace('"oral"', '""'),
    OVERRIDE + 'date = "today"\n',
]


def fits(value, schema) -> bool:
    """The few words of JSON Schema that ours uses."""
    if "$ref" in schema:
        place = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        schema = {**place, **{key: word for key, word in schema.items() if key != "$ref"}}
    if "type" in schema:
        is_type = isinstance(value, TYPES[schema["type"]]) and not isinstance(value, bool)
        if not is_type:
            return False
    if isinstance(value, dict):
        return _fits_table(value, schema)
    if isinstance(value, list):
        return all(fits(one, schema.get("items", {})) for one in value)
    return (
        value in schema.get("enum", [value])
        and not ("minimum" in schema and value < schema["minimum"])
        and not ("maximum" in schema and value > schema["maximum"])
        and not ("pattern" in schema and not re.search(schema["pattern"], value))
    )


def _fits_table(value, schema) -> bool:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    if not set(schema.get("required", [])) <= set(value):
        return False
    for key, one in value.items():
        wanted = known.get(key, others)
        if wanted is False or (wanted is not True and not fits(one, wanted)):
            return False
    return True


def is_read(text, folder) -> bool:
    file = folder / "rubric.toml"
    file.write_text(text)
    try:
        read_rubric(file, BANK)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("text", ACCEPTED)
def test_both_accept(text, tmp_path):
    assert is_read(text, tmp_path)
    assert fits(tomllib.loads(text), SCHEMA)


@pytest.mark.parametrize("text", REFUSED)
def test_both_refuse(text, tmp_path):
    assert not is_read(text, tmp_path)
    assert not fits(tomllib.loads(text), SCHEMA)


@pytest.mark.parametrize("text", BEYOND)
def test_the_reader_alone_refuses_what_a_schema_cannot_say(text, tmp_path):
    assert not is_read(text, tmp_path)
    assert fits(tomllib.loads(text), SCHEMA)


def test_the_schema_uses_no_word_that_this_test_does_not_know():
    known = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "format"}
    known |= {"additionalProperties", "required", "items", "enum", "minimum", "maximum", "pattern"}

    def words(schema):
        yield from schema
        for one in [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]:
            yield from words(one)
        for key in ("items", "additionalProperties"):
            yield from words(schema[key]) if isinstance(schema.get(key), dict) else ()

    assert set(words(SCHEMA)) <= known
