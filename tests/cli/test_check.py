"""`headwright check` as a newcomer and as a script meet it: exit codes, JSON, files, 80 columns,
bad input."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from headwright.cli.check.command import command

RIGHT = "(b) ii. $q = \\beta(k_a + k_b)$ where $\\beta \\gg 0$\n"
BANK = """
title = "Mine"

[[question]]
id = "b.q"
title = "Average"
asked = "Find q."
test = "query"
points = 7
labels = ["b.2", "b.1"]

[question.parameters]
vectors = "keys"
target = {a = 0.5, b = 0.5}

[question.shapes]
"query of keys" = 5
"""
WRONG = "(b) ii. $q = \\frac{1}{2}(k_a + k_b)$\n"


def check(*arguments, text=None):
    return CliRunner().invoke(
        command, [str(a) for a in arguments], input=text, env={"COLUMNS": "80"}
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "right.md").write_text(RIGHT)
    (tmp_path / "wrong.md").write_text(WRONG)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (RIGHT, 0),
        (WRONG, 1),
        ("", 2),
        ("\\def\\x{\\x}\\x", 2),
        ("Once upon a time there was a query.", 2),  # nothing to judge
        ("(a) iv. That is quite a nice thing to have.", 2),  # words that say none of the points
        (RIGHT + "\n(a) iv. That is quite a nice thing to have.", 0),
    ],
)
def test_exit_codes(tmp_path, text, code):
    path = tmp_path / "answers.md"
    path.write_text(text)
    assert check(path).exit_code == code


def test_json_is_one_document_with_the_promised_fields(folder):
    result = check(folder, "--json")
    assert result.exit_code == 1
    verdicts = json.loads(result.stdout)["verdicts"]
    by_name = {v["document"].rsplit("/", 1)[-1]: v for v in verdicts if v["question"] == "b.q"}
    assert by_name["right.md"]["status"] == "correct"
    wrong = by_name["wrong.md"]
    assert wrong["status"] == "wrong"
    assert {
        "document",
        "question",
        "span",
        "answer",
        "status",
        "reason",
        "counterexample",
        "repair",
    } <= set(wrong)
    assert wrong["counterexample"]
    assert wrong["repair"]
    assert WRONG[wrong["span"]["start"] : wrong["span"]["end"]].startswith("$q = ")


def test_standard_input():
    result = check("-", "--json", text=RIGHT)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdicts"][0]["document"] == "standard input"


def test_the_terminal_shows_reason_and_repair_within_80_columns(folder):
    result = check(folder / "wrong.md")
    assert "b.q" in result.output
    assert "wrong" in result.output
    assert "repair:" in result.output
    assert "0.146" in result.output
    assert all(len(line) <= 80 for line in result.output.splitlines())


def test_a_class_is_one_table(folder):
    for i in range(3):
        (folder / f"student-with-a-very-long-name-{i}.md").write_text(WRONG)
    (folder / "empty.md").write_text("")
    result = check(folder)
    assert result.exit_code == 1
    assert "6 documents" in result.output
    assert "4x ✗ b.q" in result.output
    assert "the document is empty" in result.output
    assert all(len(line) <= 80 for line in result.output.splitlines())


def test_all_outputs_are_written(folder, tmp_path):
    out = tmp_path / "out"
    result = check(
        folder, "--csv", out / "t.csv", "--html", out / "html", "--gradescope", out / "results.json"
    )
    assert result.exit_code == 1
    with (out / "t.csv").open(newline="") as table:
        assert [row["status"] for row in csv.DictReader(table) if row["question"] == "b.q"] == [
            "correct",
            "wrong",
        ]
    names = sorted(file.name for file in (out / "html").iterdir())
    assert [name.partition("-")[0] for name in names] == ["index.html", "right", "wrong"]
    assert json.loads((out / "results.json").read_text())["tests"][0]["number"] == "b.q"


def test_the_bank_and_one_question():
    assert "b.q" in check("--questions").output
    questions = json.loads(check("--questions", "--json").stdout)["questions"]
    assert {"a.cond", "b.M", "b.q", "c.q", "d.q"} <= {q["id"] for q in questions}
    explained = check("--explain", "b.q")
    assert explained.exit_code == 0
    assert "beta" in explained.output
    unknown = check("--explain", "z.z")
    assert unknown.exit_code == 2
    assert "one of a.prob" in unknown.stderr


def test_a_teachers_bank(folder, tmp_path):
    bank = tmp_path / "bank.toml"
    bank.write_text(BANK)
    result = check(folder / "right.md", "--bank", bank, "--gradescope", tmp_path / "r.json")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "r.json").read_text())["score"] == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "wanted documents to check"),
        (("nowhere.md",), "nothing there"),
        (("--bank", "nowhere.toml", "--questions"), "nowhere.toml"),
    ],
)
def test_bad_input_is_one_line(arguments, words):
    result = check(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1


def test_an_empty_folder_is_bad_input(tmp_path):
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "no file with a known suffix" in result.stderr


def test_a_closed_pipe_is_no_traceback(folder):
    program = f"{sys.executable} -m headwright check {folder} --json | head -c 1"
    found = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)
    assert "Traceback" not in found.stderr


def test_a_class_with_a_document_in_which_nothing_was_judged(folder):
    (folder / "wrong.md").write_text("Once upon a time there was a query.")
    assert check(folder).exit_code == 2


def test_every_output_is_written_whatever_one_student_hands_in(folder, tmp_path):
    """A lone surrogate in a notebook, a name that is no UTF-8, a name that drives the terminal,
    formulas that hang."""
    (folder / "half.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "source": "(b) ii. $q = \\ud800 k_a$"}]}'
    )
    name = os.path.join(os.fsencode(folder), b"\xff\x1b[31mred.md")
    with open(name, "w", encoding="utf-8") as file:
        file.write(WRONG + "\n(a) iv. The output is a \x1b[31mcopy\x9b0m of a value.")
    deep = f"(b) ii. $q = {'{' * 30}k_a{'}' * 30}$ and $M = {'{' * 60}k_a{'}' * 60}$"
    (folder / "deep.md").write_text(deep)
    out = tmp_path / "out"
    result = check(
        folder, "--csv", out / "t.csv", "--html", out / "html", "--gradescope", out / "results.json"
    )
    assert result.exit_code == 1, result.output
    with (out / "t.csv").open(newline="", encoding="utf-8") as table:
        documents = {row["document"].rsplit("/", 1)[-1] for row in csv.DictReader(table)}
    assert documents >= {"right.md", "wrong.md", "deep.md", "\\xff\\x1b[31mred.md"}
    assert len(list((out / "html").glob("*-*.html"))) == 5
    assert "b.q" in (out / "results.json").read_text(encoding="utf-8")
    odd = check(os.fsdecode(name), "--json")
    assert json.loads(odd.stdout)["verdicts"][0]["document"].endswith("\\xff\\x1b[31mred.md")
    shown = check(os.fsdecode(name), folder / "half.ipynb", folder / "nowhere\x1b[31m.md").stderr
    for text in (check(os.fsdecode(name), folder / "half.ipynb").output, result.output, shown):
        assert "\x1b" not in text
    assert "\\x1b[31m" in shown


def test_an_output_that_cannot_be_written_costs_no_other(folder, tmp_path):
    (tmp_path / "file").write_text("")
    result = check(
        folder, "--csv", tmp_path / "t.csv", "--html", tmp_path / "file", "--gradescope", tmp_path
    )
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 2
    assert result.stderr.count("headwright check: wanted to use ") == 2
    assert "Traceback" not in result.output
    assert "b.q" in result.stdout
    assert (tmp_path / "t.csv").is_file()
