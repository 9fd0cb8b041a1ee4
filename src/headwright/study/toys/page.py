"""What the page of the study says: every number in it is taken from the rows."""

from __future__ import annotations

import math
from typing import Any

from headwright.study.section import Rows, Section
from headwright.study.toys.columns import wilson
from headwright.study.toys.random_length import AWAY, CALM
from headwright.study.toys.settings import chosen, main_rate, most_keys, most_steps, shown
from headwright.study.toys.task import LEAK, LIMIT, QUERIES

_METHOD = f"""A toy head has n learned keys of length one and, for each pair of them, a query no \
longer than {LIMIT:g}: learned by itself, or the sum of two learned vectors. Adam minimises the \
cross-entropy (or the squared error) of the weights against one half on either key, mean over all \
pairs, from normal random numbers; the learning rate falls to zero along a cosine. Heads of one \
row differ in their seed alone and are trained together.

A pair is solved when each of its two weights is at least (1 - {LEAK:g}) / 2. With the same keys \
the solver finds the shortest query that does so, with a proof that none is shorter, or a proof \
that there is none within the limit. 95% intervals: Student's over seeds, Wilson's for shares of \
heads.

For two heads on the same keys the bound is not tight: it is the shorter of the two queries that \
give one key alone its weight. Lengths of two heads are held against the shortest design as well.

Under a random length the first key of each pair is gamma times its mean, gamma ~ N(1, 1/2), drawn \
anew at every step. The squared error is exact: an integral over gamma, held against the engine \
for random keys on two pairs of every head. A pair looks away when it is solved at gamma = 1 and \
at most {AWAY:.0%} of the lead of the random key moves with its length (1 for the textbook's heads \
on orthonormal keys, 0 for the design); it is found when its squared error is at most {CALM:g} as \
well, a tenth of the textbook's. A head has found it when half of its pairs have."""


def sections(rows: Rows) -> list[Section]:
    fixed = chosen(rows, lengths="fixed")
    random = chosen(rows, lengths="random")
    said = []
    if fixed:
        said += [_solved(fixed), _lengths(fixed)]
    if chosen(fixed, heads=2):
        said.append(_two_heads(fixed))
    if random:
        said += [_errors(random), _away(random)]
    return [*said, Section("Method", text=_METHOD)]


def _solved(rows: Rows) -> Section:
    main = shown(rows)
    ratios = [row["ratio_least"] for row in rows if row["ratio_least"] is not None]
    least = min(ratios, default=math.nan)
    last = most_steps(main)
    undecided = sum(row["undecided"] > 0 for row in rows)
    missed = {q: [row["missed"] for row in chosen(last, queries=q)] for q in QUERIES}
    quote = (
        f"After {last[0]['steps']:,} steps gradient descent leaves at most "
        f"{max(missed['free'], default=0):.0%} of the pairs unsolved that its own keys allow, if "
        f"every pair has a query of its own, and up to {max(missed['additive'], default=0):.0%} "
        "if queries are sums."
    )
    text = (
        f"The bound was never beaten: the least ratio of a trained length to it is {least:.3f}. "
        f"{undecided} of {len(rows)} rows have a pair that could not be decided."
    )
    table = [_solved_row(row) for row in main]
    return Section(
        "How many pairs are solved",
        text=text,
        quote=quote,
        figure="solved",
        caption="Share of pairs solved after each budget. Dashed: what a query could do with the "
        "keys at the end of the largest budget.",
        table=table,
    )


def _solved_row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "queries": row["queries"],
        "d": row["d"],
        "steps": row["steps"],
        "solved": _interval(row, "solved", ".0%"),
        "possible": _percent(row["possible"]),
        "proved impossible": _percent(row["impossible"]),
        "trained / shortest": _interval(row, "ratio", ".2f"),
        "same leak": _number(row["own_ratio"], ".2f"),
    }


def _lengths(rows: Rows) -> Section:
    known = [row for row in chosen(shown(rows), queries="free") if row["own_ratio"] is not None]
    last = most_steps(chosen(shown(rows), queries="free"))
    ratios = [row["ratio"] for row in last if row["ratio"] is not None]
    own = [row["own_ratio"] for row in known]
    quote = ""
    if ratios and own:
        quote = (
            "One head, a query for every pair: trained queries are "
            f"{min(ratios):.1f} to {max(ratios):.1f} times as long as a leak "
            f"of {LEAK:.0%} needs, but only {min(own) - 1:.0%} to {max(own) - 1:.0%} longer than "
            "the shortest that leaks as little as they do: training pays for sharpness that "
            "nobody asked for, and hardly anything else."
        )
    text = "Medians over the solved pairs of a head, means over seeds."
    sums = most_steps(chosen(shown(rows), queries="additive"))
    paid = [row["ratio"] for row in sums if row["ratio"] is not None]
    if paid:
        text += (
            f" Sums of two vectors pay {min(paid):.1f} to {max(paid):.1f} times the shortest "
            f"length after {sums[0]['steps']:,} steps."
        )
    return Section(
        "How long the queries are",
        text=text,
        quote=quote,
        figure="length",
        caption="Trained length over the shortest length that solves the pair with the same keys.",
    )


def _two_heads(rows: Rows) -> Section:
    main = most_steps(most_keys(chosen(rows, heads=2)))
    table = [
        {
            "queries": row["queries"],
            "d": row["d"],
            "solved": _interval(row, "solved", ".0%"),
            "trained / shortest design": _number(row["over_design"], ".2f"),
            "trained / bound": _interval(row, "ratio", ".2f"),
        }
        for row in main
    ]
    return Section(
        "Two heads",
        text=f"n = {main[0]['n']}, {main[0]['steps']:,} steps. Keys of length one can all be "
        "copied, so two heads can serve every pair, one key each.",
        table=table,
    )


def _errors(rows: Rows) -> Section:
    rows = most_steps(main_rate(most_keys(rows)))
    gap = max(row["engine_gap"] for row in rows)
    table = [
        {
            "queries": row["queries"],
            "heads": row["heads"],
            "d": row["d"],
            "squared error": _interval(row, "squared_error", ".2g"),
            "textbook, same keys": _number(row["textbook_error"], ".2g"),
            "design, same keys": _number(row["design_error"], ".2g"),
            "pairs found": _interval(row, "found", ".0%"),
            "design exists": _percent(row["design_possible"]),
            "proved impossible": _percent(row["design_impossible"]),
        }
        for row in rows
    ]
    return Section(
        "One key of random length: the error",
        text=f"n = {rows[0]['n']}, {rows[0]['steps']:,} steps. The integral and the exact engine "
        f"differ by at most {gap:.0e}.",
        figure="error",
        caption="Exact squared error of the median pair. Dotted: the textbook's two heads and the "
        "head that looks away, on the orthonormal keys of the exercise.",
        table=table,
    )


def _away(rows: Rows) -> Section:
    last = most_steps(main_rate(rows))
    together: list[Rows] = []
    for queries in QUERIES:
        for heads in (1, 2):
            of_setting = chosen(last, queries=queries, heads=heads)
            for low, high in ((0, 5), (6, 7), (8, 99)):
                some = [row for row in of_setting if low <= row["d"] <= high]
                together += [some] if some else []
    free = [some for some in together if chosen(some, queries="free", heads=1)]
    return Section(
        "Does training discover looking away?",
        quote=_discovered(free[-1]) if free else "",
        figure="away",
        caption="Share of heads that look away on at least half of their pairs with a squared "
        f"error of at most {CALM:g}, both losses and all numbers of keys.",
        table=[_away_row(some) for some in together],
    )


def _discovered(rows: Rows) -> str:
    """An answer for most of these heads, as far as the interval has one."""
    count, total = _finders(rows)
    low, high = wilson(count, total)
    answer = "Yes" if low > 0.5 else "No" if high < 0.5 else "Not settled"
    told = _away_row(rows)
    return (
        f"{answer}: of the heads with one query per pair, trained for {rows[0]['steps']:,} steps "
        f"with a random key length in d = {told['d']}, {told['look away']} discover the query that "
        f"looks away ({told['interval']}); nobody told them."
    )


def _away_row(rows: Rows) -> dict[str, Any]:
    count, total = _finders(rows)
    low, high = wilson(count, total)
    dimensions = sorted({row["d"] for row in rows})
    return {
        "queries": rows[0]["queries"],
        "heads": rows[0]["heads"],
        "d": ", ".join(map(str, dimensions)),
        "look away": f"{count} of {total}",
        "interval": f"{low:.0%} to {high:.0%}",
    }


def _finders(rows: Rows) -> tuple[int, int]:
    """How many heads found it, of how many."""
    return sum(int(row["finders"]) for row in rows), sum(int(row["trained"]) for row in rows)


def _interval(row: dict[str, Any], name: str, how: str) -> str:
    if row[name] is None:
        return "-"
    low = row[f"{name}_low"]
    high = row[f"{name}_high"]
    middle = format(row[name], how)
    return middle if low is None else f"{middle} ({format(low, how)} to {format(high, how)})"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _number(value: float | None, how: str) -> str:
    return "-" if value is None else format(value, how)
