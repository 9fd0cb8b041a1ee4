"""One set at a time: the length by another solver, proofs of impossibility, the page's numbers."""

import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from tests.tolerances import FITTED_EXPONENT, MEDIAN_OF_A_DOZEN, SECOND_SOLVER

from headwright.errors import InputError
from headwright.study.grid import grid
from headwright.study.price import figures, page
from headwright.study.price.groups import groups, read_groups
from headwright.study.price.job import job
from headwright.study.price.keys import largest_product, unit_keys
from headwright.study.price.law import cyclic_law, medians
from headwright.study.price.predicted import predicted_norm, threshold

HERE = Path(page.__file__).parent
DATA = Path(__file__).parents[3] / "docs" / "studies" / "price.csv"
POINT = {"family": "random", "N": 12, "d": 6, "seed": 0, "q": 2, "draw": 1}


def test_the_length_by_a_general_solver():
    row = job(**POINT)
    K = unit_keys("random", 12, 6, 0)
    chosen = sorted(np.random.default_rng([0, 1, 12, 2]).choice(12, 2, replace=False))
    inside = K[chosen]
    rest = np.delete(K, chosen, axis=0)
    limit = math.log(2 * 0.1 / 0.9)
    equal = {"type": "eq", "fun": lambda y: (inside[1] - inside[0]) @ y}
    small = {"type": "ineq", "fun": lambda y: limit - logsumexp((rest - inside[0]) @ y)}
    start = row["norm"] * (inside.sum(0) - rest.mean(0))
    found = minimize(
        lambda y: y @ y, start, constraints=[equal, small], method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert found.success
    assert np.linalg.norm(found.x) == pytest.approx(row["norm"], rel=SECOND_SOLVER)
    assert row["lower"] <= row["norm"]
    assert row["certified"] == 1


def test_an_impossible_set_is_proved():
    row = job(family="random", N=64, d=4, seed=0, q=4, draw=0)
    assert row["selectable"] == 0
    assert row["norm"] is None
    assert 0 < row["most_mass"] < 0.9


def test_rows_are_the_same_every_time():
    assert job(**POINT) == job(**POINT)


def test_optimised_keys_are_farther_apart():
    nearest = {}
    for family in ("random", "optimised"):
        K = unit_keys(family, 64, 16, 0)
        products = K @ K.T - 2 * np.eye(64)
        nearest[family] = products.max()
        assert largest_product(family, 64, 16, 0) >= nearest[family]
    assert nearest["optimised"] < 0.5 * nearest["random"]


@pytest.mark.parametrize("wrong", [{"family": "lattice"}, {"family": "cyclic", "d": 5}])
def test_keys_that_are_not_there(wrong):
    with pytest.raises(InputError):
        job(**{**POINT, **wrong})


def test_the_prediction_for_random_keys():
    rows = [
        job(family="random", N=128, d=64, seed=s, q=4, draw=i) for s in range(3) for i in range(8)
    ]
    (group,) = groups([{"family": "random", "N": 128, "d": 64, "q": 4, **row} for row in rows])
    assert group.median == pytest.approx(predicted_norm(128, 4, 64), rel=MEDIAN_OF_A_DOZEN)
    assert predicted_norm(128, 4, 15) == math.inf
    assert 15 < threshold(128, 4) < 16


def test_half_a_study_has_a_page_without_a_law():
    rows = [{**POINT, **job(**POINT)}]
    assert [section.quote for section in page.sections(rows) if section.quote] == []
    assert figures.figures(rows)


def test_the_kept_groups_are_above_the_floors_that_are_drawn():
    kept = [g for g in read_groups(DATA) if (g.family, g.N, g.q) == ("cyclic", 128, 1)]
    kept = [g for g in kept if g.d < g.N]
    axes = figures.drawn(kept)["cyclic"].axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    ratio = np.array(lines["q = 1"]) / np.array(lines["proved floor, q = 1"])
    assert ratio.min() >= 1
    assert ratio.min() < 1 + FITTED_EXPONENT


def test_marks_of_a_logarithmic_axis_are_numbers():
    kept = [g for g in read_groups(DATA) if (g.family, g.N, g.q) == ("random", 32, 4)]
    for axes in figures.drawn(kept)["random"].axes:
        labels = [label.get_text() for label in axes.get_xticklabels() if label.get_text()]
        assert len(labels) >= 2
        assert all(float(label) > 0 for label in labels)
        assert len(axes.get_xticks(minor=True)) == 0


def test_sets_that_only_rounding_makes_impossible_are_told():
    kept = read_groups(DATA)
    assert page.lost_to_rounding(kept) == 2
    assert "Two of the impossible" in DATA.with_suffix(".md").read_text(encoding="utf-8")


def test_the_numbers_of_the_docs_are_those_of_the_job():
    kept = {(g.family, g.N, g.q, g.d): g for g in read_groups(DATA)}
    wanted = [("random", 32, 4, 16), ("cyclic", 128, 2, 24)]
    points = grid(HERE / "grid.toml").points()
    mine = [p for p in points if (p["family"], p["N"], p["q"], p["d"]) in wanted]
    for group in groups([{**point, **job(**point)} for point in mine]):
        there = asdict(kept[group.family, group.N, group.q, group.d])
        ours = asdict(group)
        gap = ours.pop("largest_gap")
        assert gap < 1e-6
        assert there.pop("largest_gap") < 1e-6
        assert ours.pop("family") == there.pop("family")
        assert ours == pytest.approx(there, rel=SECOND_SOLVER)


def test_the_exponents_of_cyclic_keys_in_the_docs():
    fit = cyclic_law(medians(read_groups(DATA)), 2)
    assert fit.exponents == pytest.approx((2, -2), abs=FITTED_EXPONENT)
    assert fit.r2 > 0.99
