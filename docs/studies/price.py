"""Redraws the figures of this page: python docs/studies/price.py [RESULTS.csv]

With the results.csv of `headwright study price`, the aggregated numbers (price.csv) are made anew
first, and the tables of the laws are printed."""

import csv
import sys
from pathlib import Path

from headwright.report.style import save
from headwright.study.price.figures import drawn
from headwright.study.price.groups import groups, read_groups, write_groups
from headwright.study.price.page import sections

HERE = Path(__file__).parent
DATA = HERE / "price.csv"


def main() -> None:
    if len(sys.argv) > 1:
        rows = results(Path(sys.argv[1]))
        write_groups(groups(rows), DATA)
        for section in sections(rows):
            said = [" | ".join(map(str, row.values())) for row in section.table]
            sys.stdout.write("\n".join([section.title, section.text, *said, "\n"]))
    for name, drawing in drawn(read_groups(DATA)).items():
        for path in save(drawing, HERE / f"price-{name}"):
            if path.suffix == ".svg":
                path.unlink()


def results(path: Path) -> list[dict]:
    whole = {"N", "d", "q", "seed", "draw"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                name: value if name == "family" else _number(value, name in whole)
                for name, value in row.items()
            }
            for row in csv.DictReader(file)
        ]


def _number(text: str, whole: bool) -> float | int | None:
    if not text:
        return None
    return int(text) if whole else float(text)


if __name__ == "__main__":
    main()
