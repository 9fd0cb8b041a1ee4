"""A number that the overview quotes is the one on the page it comes from, rounded at most."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
# Benchmark -> the pages that have its numbers, and what stands in the lines that have them
SOURCES = {
    "moments": (["reference/benchmarks-moments.md"], r"classic|Monte Carlo"),
    "design": (["reference/benchmarks-design.md"], "10000 x 384"),
    "reach": (["reference/benchmarks-reach.md"], "MiniLM words"),
    "check": (["reference/benchmarks-check.md", "concepts/check.md"], ""),
}


def _rows():
    """Benchmark -> what the overview says was measured."""
    text = (DOCS / "README.md").read_text(encoding="utf-8").partition("## Numbers you can check")[2]
    found = re.findall(r"^\| .* \| (.*) \| `headwright bench (\w+)`.* \|$", text, re.M)
    return {name: said for said, name in found}


def _digits(number):
    """How many digits of a number were given: zeros before a point say nothing."""
    mantissa = number.replace(",", "").partition("e")[0]
    given = mantissa.replace(".", "").lstrip("0")
    return len(given if "." in mantissa else given.rstrip("0"))


def _value(number):
    return float(number.replace(",", ""))


def _agree(shown, measured):
    digits = max(_digits(shown), 1)
    return _value(shown) == float(f"{measured:.{digits - 1}e}")


def test_every_benchmark_of_the_overview_has_a_page():
    assert set(_rows()) == set(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_the_overview_quotes_what_was_measured(name):
    pages, lines = SOURCES[name]
    text = "\n".join((DOCS / page).read_text(encoding="utf-8") for page in pages)
    having = "\n".join(line for line in text.splitlines() if re.search(lines, line))
    measured = [_value(number) for number in NUMBER.findall(having)]

    said = _rows()[name]
    for number in NUMBER.finditer(said):
        # Tables of the benchmark pages have seconds where the overview has milliseconds.
        units = (1, 1000) if said[number.end() :].startswith(" ms") else (1,)
        candidates = [value * unit for value in measured for unit in units]
        assert any(_agree(number[0], value) for value in candidates), number[0]


def test_a_number_may_be_rounded_and_not_be_another():
    assert _agree("3,700", 3720.0)
    assert _agree("41", 40.7)
    assert not _agree("3,600", 3720.0)
    assert not _agree("3,720", 4640.0)
