"""Answers written by hand: whole sheets as students leave them, and phrasings of single answers."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from .answers import Answer
from .documents import Written
from .notation import Notation

_HERE = Path(__file__).parent
_PREFACES = {"e": "# Self-attention", "p": "# Position embeddings and permutation equivariance"}


def sheets() -> list[Written]:
    deserved = tomllib.loads((_HERE / "sheets" / "deserves.toml").read_text("utf-8"))
    return [
        _written(name, (_HERE / "sheets" / name).read_text("utf-8"), statuses, "by hand")
        for name, statuses in deserved.items()
    ]


def phrasings() -> list[Written]:
    out = []
    for group in tomllib.loads((_HERE / "phrasings.toml").read_text("utf-8"))["phrasings"]:
        preface = _PREFACES.get(group["question"][0], "# Attention exploration")
        for answer in group["answers"]:
            text = f"{preface}\n\n{group['label']} {answer}\n"
            out.append(
                _written(
                    f"phrasing-{len(out):03d}.md",
                    text,
                    {group["question"]: group["deserves"]},
                    answer,
                )
            )
    return out


def development_set(folder: Path) -> list[Written]:
    """Real documents with the verdicts a person gave; only formulas and relations."""
    rows = json.loads((folder / "expected.json").read_text("utf-8"))
    rows = [
        row for row in rows if row["level"] == "answer" and row["kind"] in ("formula", "relation")
    ]
    return [
        _written(
            name,
            (folder / name).read_text("utf-8"),
            {row["question"]: row["verdict"] for row in rows if row["file"] == name},
            "real",
        )
        for name in sorted({row["file"] for row in rows})
    ]


def _written(name: str, text: str, statuses: dict[str, str], layout: str) -> Written:
    answers = {
        question: Answer(layout, question, frozenset(deserved.split("|")), lambda n, t: [])
        for question, deserved in statuses.items()
    }
    return Written(name, Path(name).suffix, text, answers, layout, "as written", Notation())
