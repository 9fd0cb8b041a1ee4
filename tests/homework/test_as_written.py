"""Formulas as people write them: broken over lines, with constraints beside them, in words, with
macros that nobody defines, with remarks behind them. Where an answer stands is given, so that only
its reading is tested; all are judged in one fresh process, as in `test_judge`."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ANSWERS = tomllib.loads(Path(__file__).with_name("as_written.toml").read_text("utf-8"))["answer"]
IDS = [f"{a['cause']}: {a['question']} {a['text'][:50]!r}" for a in ANSWERS]

PROGRAM = """
import json, sys
from headwright.exercise.bank import load
from headwright.homework.locating.locate import Located
from headwright.homework.meaning.statements import stream
from headwright.homework.one_answer import judge_answer
from headwright.homework.reading.formats import read_text
from headwright.result import plain

def judged(question, text):
    document = read_text(text, name="answer.md")
    every = tuple(range(len(document.segments)))
    place = Located(question, every, (0, len(text)), 0.9)
    return judge_answer(place, load(None), document, stream(document), {})

print(json.dumps([plain(judged(a["question"], a["text"])) for a in json.load(sys.stdin)]))
"""


def judge(answers):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def verdicts():
    return judge(ANSWERS)


@pytest.mark.parametrize("k", range(len(ANSWERS)), ids=IDS)
def test_answers(verdicts, k):
    verdict = verdicts[k]
    assert verdict["status"] in ANSWERS[k]["status"], (verdict["answer"], verdict["reason"])


def test_several_offers_are_named():
    text = r"$M = AA^\top$. Alternatively, $M = A^\top$ in the basis of A."
    (verdict,) = judge([{"question": "b.M", "text": text}])
    assert verdict["status"] == "correct"
    assert any("also offered" in remark for remark in verdict["remarks"])


def test_equal_heads_are_shown_a_sample_that_they_miss():
    text = r"$q_1 = q_2 = \beta(\mu_a + \mu_b)$, $\beta \gg 0$"
    (verdict,) = judge([{"question": "d.q", "text": text}])
    example = verdict["counterexample"]
    at = example["order"].index("b")
    assert example["weights"][at] < 0.1, "beside a long k_a both heads lose v_b"


def test_a_number_that_is_too_small_is_no_missing_scale():
    (verdict,) = judge([{"question": "b.q", "text": "$q = 3 (k_a + k_b)$"}])
    assert verdict["status"] == "incomplete"
    assert "too small" in verdict["reason"]
    assert "missing" not in verdict["reason"]
