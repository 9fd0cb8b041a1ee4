"""Parameter studies: a grid and a function go in; a table, figures and a page come out.

    headwright study module:function --grid sweep.toml --out results
    hw.study.run("module:function", {"n": [4, 8], "leak": {"from": 0.1, "to": 0.5, "step": 0.1}})

Reading order: `axis` (the values of one parameter), `grid` (their product, counted before it is
built), `function` (what is called), `asked` (both, checked against each other), `numbers` (what a
function may return), `table` (rows, and results.csv), `running` (the whole way), `figures` and
`page` (what people look at), `studied` (what Python gets), `section` and `built_in` (the studies
that come with the package). `template/` is what `--new` prints.

A built-in study is a folder here with

    about.toml     name (the command's word), title, asks (the question, one sentence)
    grid.toml      the full grid;  small.toml  the same study in seconds, for CI (`--small`)
    job.py         VERSION = "1", and
                   def job(*, n: int, ...) -> dict[str, float]
                   called with one point's parameters as keywords, in a process of its own with one
                   BLAS thread. Every value is a number (a truth counts as 1 or 0); NaN is "not a
                   number", None "not there" (an empty cell). What it raises fails this point alone.
                   A new VERSION computes every point again. Heavy imports belong inside `job`.
    figures.py     def figures(rows: Rows) -> dict[str, Figure]
                   drawn with `report.style.figure`; the name becomes figures/NAME.svg and .png
    page.py        def sections(rows: Rows) -> list[Section]
                   what the page says, in order; a section shows a figure by its name

`Rows` (in `section`) is the list of finished rows in the grid's order: parameters and numbers by
name, None where there is none. Failed points are not among them; the page counts those itself. A
study with half its rows must draw as well: `rows` may be any part of the grid, but never empty.
Tables, light and dark, and the list of parameters are the page's business (`page`), not a study's.

>>> from tempfile import TemporaryDirectory
>>> sweep = "headwright.study.template.sweep:leak"
>>> grid = {"n": [4, 8], "d": [3], "sharpness": [5.0], "seed": [0]}
>>> with TemporaryDirectory() as folder:
...     for row in hw.study.run(sweep, grid, out=folder, workers=1).rows:
...         print(row["n"], round(row["leak"], 4))
4 0.2048
8 0.2485
"""

from __future__ import annotations

from headwright.study.running import run
from headwright.study.studied import Studied

__all__ = ["Studied", "run"]
