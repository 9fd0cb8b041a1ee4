"""Draws the page of the study and its figures from trained.csv: python docs/studies/trained.py"""

import csv
from pathlib import Path

from headwright.report.style import save
from headwright.study.built_in import built_in
from headwright.study.section import Section

HERE = Path(__file__).parent
WORDS = ("queries", "lengths", "loss")
WHOLE = ("n", "d", "heads", "steps")
HEAD = """# Do trained heads find the designs?

Toy heads learn by gradient descent to average every pair of their keys. The solver then says,
for the same keys, which pairs can be solved and how short the query can be. {heads:,} heads; one
command repeats all of it, and continues where it was stopped (11 minutes of one core; needs the
extra `models`):

<!-- not run: ten minutes -->
```bash
headwright study trained --out trained
headwright study trained --small --out trained-small    # seconds
```

The rows are in [trained.csv](trained.csv); `python docs/studies/trained.py` draws this
page from them.
"""
TAIL = """
## Open questions

- The pairs of one head share their keys, so intervals are over seeds and heads, never over
  pairs; five seeds are few.
- The solver was asked about 40 pairs of each head, drawn at random; the share solved is over
  all pairs.
- For two heads there is no tight bound on the length, only that of the copies and the shortest
  design.
- One optimiser, one initialisation, two learning rates: what a head does not find here, it may
  find with other training.
- Random lengths were trained for 3,000 steps; we did not try more.
- The limits of "looks away" (25% of the lead, a squared error of 0.0025) were set after a pilot:
  at 10% most rows with two heads failed although their errors were tiny. The counts for two heads
  depend on it; one head with free queries found it at 10% as well, from d = 8 on.
- The lengths of pairs that leak less than 1e-9 (mostly sums of vectors) are not compared with the
  shortest query with the same leak; those cells are empty.
- Whether two heads that depend on the length by a tenth to a quarter of the lead look away or
  do something better.
"""


def rows() -> list[dict]:
    with (HERE / "trained.csv").open(encoding="utf-8", newline="") as file:
        return [
            {name: _value(name, text) for name, text in row.items()} for row in csv.DictReader(file)
        ]


def _value(name: str, text: str):
    if name in WORDS:
        return text
    if not text:
        return None
    return int(text) if name in WHOLE else float(text)


def markdown() -> str:
    table = rows()
    heads = sum(int(row["trained"]) for row in table)
    parts = [_written(section) for section in built_in("trained").sections(table)]
    return HEAD.format(heads=heads) + "".join(parts) + TAIL


def _written(section: Section) -> str:
    lines = [f"\n## {section.title}\n"]
    if section.quote:
        lines.append(f"> {section.quote}\n")
    if section.text:
        lines.append(f"{section.text}\n")
    if section.figure:
        lines.append(f"![{section.caption}](trained-{section.figure}.png)\n\n{section.caption}\n")
    if section.table:
        names = list(section.table[0])
        lines.append("| " + " | ".join(names) + " |")
        lines.append("|" + "---|" * len(names))
        lines += ["| " + " | ".join(str(row[n]) for n in names) + " |" for row in section.table]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    for name, drawing in built_in("trained").figures(rows()).items():
        save(drawing, HERE / f"trained-{name}")
    (HERE / "trained.md").write_text(markdown(), encoding="utf-8")
