"""The graded development set, where it is at hand: no verdict may differ, one in five may be
unread."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"


@pytest.mark.skipif(not SEEDS.is_dir(), reason="../shared is not beside this checkout")
def test_no_graded_answer_is_misjudged():
    program = (
        "import json; from benchmarks import check_seeds; "
        "print(json.dumps([(e, got) for e, got, _ in check_seeds.compare()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = [(e, got) for e, got in json.loads(done.stdout) if e["kind"] != "prose"]
    wrong = [
        (e["file"], e["question"], e["verdict"], got)
        for e, got in rows
        if got not in (e["verdict"], "unread")
    ]
    assert not wrong
    assert sum(got == "unread" for _, got in rows) <= len(rows) / 5


def test_the_benchmark_answers_without_the_documents(monkeypatch, tmp_path):
    from benchmarks import check_seeds

    monkeypatch.setattr(check_seeds, "SEEDS", tmp_path)
    assert check_seeds.run(quick=True)["rows"] == []
