"""Right answers changed minimally into wrong ones, and back: both ways are judged, formulas in
several notations and words in eight languages. A fault that is called correct, or a right answer
that is called faulty, is a failure; `unread` is honest, and its share is counted."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwright.homework.batch import judge_many
from headwright.homework.reading.sources import Source
from headwright.homework.verdict import Report

from .corpus.notation import Notation

FAULTY = {"wrong", "incomplete"}
# Shares of verdicts that may be missing: of answers with formulas, and of those told by words
MOST_UNREAD = {False: 0.08, True: 0.12}
FOUND = ("right", "unread", "misjudged")


@dataclass(frozen=True)
class Pair:
    question: str
    change: str
    label: str
    right: str
    faulty: str
    context: str = ""
    step: str = ""
    words: bool = False


def _table(name: str) -> dict:
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


def _pairs() -> list[Pair]:
    return [Pair(**record) for record in _table("mutations.toml")["pair"]]


def _pairs_in_words() -> list[Pair]:
    """Claims turned in words, by language."""
    out = []
    for question, table in _table("mutations_in_words.toml").items():
        about = {name: table.pop(name) for name in ("label", "context") if name in table}
        for language, pairs in table.items():
            for right, faulty in pairs:
                change = f"{language}, {right[:40]}"
                out.append(Pair(question, change, right=right, faulty=faulty, words=True, **about))
    return out


def _inline(latex: str) -> str:
    return f"${latex}$"


def _tall(latex: str) -> str:
    taller = latex.replace("^T", r"^\top").replace("(", r"\left(").replace(")", r"\right)")
    return f"${taller}$"


def _bold(latex: str) -> str:
    vectors = re.sub(r"(?<![A-Za-z\\])([kqvuc])(?=[_^ ,=]|$)", r"\\mathbf{\1}", latex)
    return f"${vectors.replace(chr(92) + 'mu', chr(92) + 'boldsymbol{' + chr(92) + 'mu}')}$"


def _displayed(latex: str) -> str:
    return f"\n\\[ {latex} \\]\n" if "=" in latex or "approx" in latex else f"${latex}$"


NOTATIONS = {
    "LaTeX": _inline,
    "tall LaTeX": _tall,
    "bold LaTeX": _bold,
    "displays": _displayed,
    "Unicode": Notation(spelling="unicode").written,
    "ASCII": Notation(spelling="ascii").written,
}
PAIRS = _pairs()
PAIRS_IN_WORDS = _pairs_in_words()  # their formulas are few: one notation is enough
JUDGED = [(pair, notation) for pair in PAIRS for notation in NOTATIONS]
JUDGED += [(pair, "LaTeX") for pair in PAIRS_IN_WORDS]


def _written(text: str, notation: str) -> str:
    return re.sub(r"\$([^$]+)\$", lambda match: NOTATIONS[notation](match[1]), text)


def _text(pair: Pair, answer: str, notation: str) -> str:
    return _written(f"{pair.context}\n\n{pair.label} {answer}\n", notation)


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[str, Report]:
    """The report on every text, judged in worker processes, as a class would be: no shape checks
    slow them down."""
    folder = tmp_path_factory.mktemp("mutations")
    answers = [(pair, answer, n) for pair, n in JUDGED for answer in (pair.right, pair.faulty)]
    texts = list(dict.fromkeys(_text(*answer) for answer in answers))
    sources = []
    for number, text in enumerate(texts):
        path = folder / f"{number:04d}.md"
        path.write_text(text, encoding="utf-8")
        sources.append(Source(path.name, path))
    outcomes = judge_many(sources, workers=2, seconds=60)
    return {text: outcome.report for text, outcome in zip(texts, outcomes, strict=True)}


def _status(pair: Pair, report: Report) -> str:
    """What the answer, or the step in it, is called."""
    verdicts = list(report.verdicts)
    if pair.step:
        verdicts = [step for verdict in verdicts for step in verdict.steps]
    wanted = f"{pair.question}/step:{pair.step}" if pair.step else pair.question
    return next((v.status for v in verdicts if v.question == wanted), "unread")


def _found(status: str, deserved: set[str]) -> str:
    if status in deserved:
        return "right"
    return "unread" if status in ("unread", "missing") else "misjudged"


@pytest.mark.parametrize(
    ("pair", "notation"),
    JUDGED,
    ids=[f"{pair.question}, {pair.change}, {notation}" for pair, notation in JUDGED],
)
def test_a_small_change_turns_the_verdict(pair, notation, reports):
    right = _status(pair, reports[_text(pair, pair.right, notation)])
    faulty = _status(pair, reports[_text(pair, pair.faulty, notation)])
    assert _found(right, {"correct"}) != "misjudged", f"right answer called {right}"
    assert _found(faulty, FAULTY) != "misjudged", f"fault called {faulty}"


@pytest.mark.parametrize("words", [False, True], ids=["formulas", "words"])
def test_few_of_them_are_unread(words, reports):
    counts: Counter[str] = Counter()
    for pair, notation in JUDGED:
        if pair.words != words:
            continue
        for answer, deserved in ((pair.right, {"correct"}), (pair.faulty, FAULTY)):
            status = _status(pair, reports[_text(pair, answer, notation)])
            counts[_found(status, deserved)] += 1
    assert set(counts) <= set(FOUND)
    assert counts["unread"] <= MOST_UNREAD[words] * counts.total(), counts


def test_every_formula_question_and_every_kind_of_change_is_there():
    formulas = {pair.question for pair in PAIRS if not pair.words}
    assert formulas >= {"a.prob", "a.cond", "a.out", "b.M", "b.q", "c.q", "c.var", "d.q", "d.var"}
    assert formulas >= {"e.c2", "e.KQV", "p.perm", "p.help"}
    changes = {pair.change for pair in PAIRS}
    assert changes >= {
        "sign", "index swapped", "transpose dropped", "scale removed", "exp lost", "1/2 inserted",
        "head duplicated", "permutation on the wrong side", "negation inserted",
    }  # fmt: skip


def test_claims_in_words_are_turned_in_eight_languages():
    languages = Counter(pair.change[:2] for pair in PAIRS_IN_WORDS)
    assert len(languages) == 8
    assert min(languages.values()) >= 30
    questions = {pair.question for pair in PAIRS_IN_WORDS}
    assert questions >= {"a.prob", "a.cond", "a.out", "a.intu", "c.var", "d.var", "e.c2", "e.sum"}
    assert questions >= {"p.why", "p.help", "p.same"}
