"""The browser's numbers are Python's: forward attention, the law of the logits, and the cloud's
moments, on the instances of cases.json."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests import tolerances

import headwright as hw

pytestmark = pytest.mark.browser
CASES = json.loads(Path(__file__).with_name("cases.json").read_text())

FORWARD = """async (cases) => {
  const { multihead } = await import("/js/maths/attention.js");
  const { logitsLaw, gramFactor } = await import("/js/maths/law.js");
  return cases.map((c) => ({
    ...multihead(c.queries, c.keys, c.values, c),
    law: logitsLaw(c.queries, c.keys, c),
    gram: gramFactor(c.queries),
  }));
}"""


def close(browser, python, size=1.0):
    np.testing.assert_allclose(
        browser, python, rtol=tolerances.ROUNDING, atol=tolerances.ROUNDING * size
    )


@pytest.fixture(scope="module")
def forward(window, lab):
    page = window.page(lab, width=1280, height=860)
    page.goto(lab)
    answers = page.evaluate(FORWARD, CASES)
    page.close()
    return answers


@pytest.mark.parametrize("i", range(len(CASES)))
def test_forward_attention_agrees(forward, i):
    case, seen = CASES[i], forward[i]
    here = hw.multihead(
        case["queries"], case["keys"], case["values"], mix=case["mix"], scale=case["scale"]
    )
    # A logit is known to the rounding of its terms; what it does to a weight is that error,
    # relative.
    size = max(1.0, float(np.abs(here.logits).max()))
    close(seen["logits"], here.logits, size)
    close(seen["weights"], here.weights, size)
    close(seen["outputs"], here.outputs, size)
    close(seen["output"], here.output, size)
    close(seen["mixed"], np.array(case["mix"]) @ here.weights, size)


@pytest.mark.parametrize("i", range(len(CASES)))
def test_the_law_of_the_logits_agrees(forward, i):
    case, seen = CASES[i], forward[i]
    keys = hw.GaussianKeys(case["keys"], isotropic=case["isotropic"]).radial(case["radial"])
    here = keys.logits_law(case["queries"], scale=case["scale"])
    size = max(1.0, float(np.abs(here.variances).max()))
    close(seen["law"]["means"], here.means, float(np.sqrt(size)))
    close(seen["law"]["variances"], here.variances, size)
    # The cloud draws its isotropic part through L with L L' = Q Q'.
    Q, L = np.array(case["queries"]), np.array(seen["gram"])
    np.testing.assert_allclose(
        L @ L.T, Q @ Q.T, rtol=tolerances.ROUNDING, atol=tolerances.ROUNDING * np.abs(Q @ Q.T).max()
    )


CLOUD = """async (states) => {
  const { cloud } = await import("/js/maths/cloud.js");
  return states.map((s) => {
    const c = cloud(s, s.directions.map((u) => u.map((x) => x * s.sharpness)));
    return { outputs: Array.from(c.outputs), mixed: Array.from(c.mixed) };
  });
}"""


@pytest.mark.parametrize("name", ["tiny", "coin", "heads"])
def test_the_cloud_has_the_exact_moments(window, lab, name):
    from headwright.lab.presets import presets

    state = {**presets()[name], "samples": 5000, "isotropic": 0.02}
    page = window.page(lab, width=1280, height=860)
    page.goto(lab)
    (seen,) = page.evaluate(CLOUD, [state])
    page.close()
    Q = state["sharpness"] * np.array(state["directions"])
    keys = hw.GaussianKeys(state["keys"], isotropic=state["isotropic"]).radial(state["radial"])
    exact = hw.moments(Q, keys, state["values"])
    draws = np.array(seen["outputs"]).reshape(-1, 2)
    error = np.sqrt(np.diag(exact.covariance) / len(draws))
    assert np.all(np.abs(draws.mean(0) - exact.mean) < tolerances.SIGMAS * error)
    centred = draws - exact.mean
    spread = centred[:, :, None] * centred[:, None, :]
    assert np.all(
        np.abs(spread.mean(0) - exact.covariance)
        < tolerances.SIGMAS * spread.std(0) / np.sqrt(len(draws)) + tolerances.ROUNDING
    )


def test_the_hull_is_the_reachable_set(open_page, rng):
    clouds = [rng.standard_normal((n, 2)).round(3).tolist() for n in (1, 2, 3, 5, 12, 40)]
    clouds.append([[0, 0], [1, 0], [2, 0], [0, 1], [0, 1]])  # a point on an edge, and one doubled
    page = open_page()
    seen = page.evaluate(
        """async (all) => {
          const { reachable } = await import("/js/maths/hull.js");
          return all.map(reachable);
        }""",
        clouds,
    )
    for points, corners in zip(clouds, seen, strict=True):
        assert corners == [bool(x) for x in hw.design.reach(points).reachable]


def test_what_depends_on_what_agrees(window, lab):
    """A token left out of the arrays, and how far every output moves."""
    page = window.page(lab, width=1280, height=860)
    page.goto(lab)
    answers = page.evaluate(DEPENDENCY, CASES)
    page.close()
    for case, seen in zip(CASES, answers, strict=True):
        if len(case["keys"]) == 1:
            assert np.all(seen["depends"])
            continue
        moves = _moves(case)
        size = float(np.abs(hw.multihead(**_arrays(case)).logits).max())
        close(seen["moves"], moves, max(1.0, size) * np.abs(case["values"]).max())


DEPENDENCY = """async (cases) => {
  const { multihead } = await import("/js/maths/attention.js");
  const { dependency } = await import("/js/maths/dependency.js");
  return cases.map((c) => dependency({ state: c, ...multihead(c.queries, c.keys, c.values, c) }));
}"""


def _arrays(case, *, without=None):
    tokens = [i for i in range(len(case["keys"])) if i != without]
    return {
        "Q": case["queries"],
        "K": np.array(case["keys"])[tokens],
        "V": np.array(case["values"])[tokens],
        "mix": case["mix"],
        "scale": case["scale"],
    }


def _moves(case):
    """Rows: heads, then their mix where there are several; columns: tokens."""

    def outputs(without):
        made = hw.multihead(**_arrays(case, without=without))
        return np.vstack([made.outputs, made.output[None]])[: _rows(case)]

    whole = outputs(None)
    columns = [np.linalg.norm(outputs(j) - whole, axis=-1) for j in range(len(case["keys"]))]
    return np.array(columns).T


def _rows(case):
    heads = len(case["queries"])
    return heads + 1 if heads > 1 else 1
