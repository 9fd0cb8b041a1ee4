"""What a notebook shows of a result: one line that holds no array, a small escaped table, a
figure."""

import re

import numpy as np
import pytest

import headwright as hw
from headwright.homework.verdict import Report, Verdict
from headwright.report import charts
from headwright.report.style import svg

K = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.1, 0.1]])
V = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, -1.0]])
NOISY = hw.GaussianKeys(K, isotropic=0.1)
BATCH = np.ones((3, 1, 2))
MANY = np.linspace(0.0, 1.0, 300)[:, None]
VERDICTS = (
    Verdict("a.1", "x", "correct", "fine"),
    Verdict("b.q", "<b>", "wrong", "<script>alert(1)</script>"),
)


# what -> (how to get it, the words that its line has)
def _audit(**measures):
    pytest.importorskip("torch", reason="the models extra is not installed")
    from tests.trained import made_up

    return made_up.audit(2, 3, **measures)


RESULTS = {
    "attention": (lambda: hw.attend([2.0, 1.0], K, V), "most weight on key 0"),
    "attention, one key": (lambda: hw.attend([2.0, 1.0], K[:1], V[:1]), "on 1 key,"),
    "attention, many queries": (lambda: hw.attend(K, K, V), "4 queries on 4 keys"),
    "attention, many keys": (lambda: hw.attend([3.0], MANY, MANY), "on 300 keys"),
    "heads": (lambda: hw.multihead(K[:2], K, V), "2 heads on 4 keys"),
    "heads, queries": (lambda: hw.multihead(K[None], K, V), "1 head x 4 on 4 keys"),
    "moments": (lambda: hw.moments([2.0, 1.0], NOISY, V), r"\(exact\): output of 2 coord"),
    "moments, no noise": (lambda: hw.moments([2.0, 1.0], K, V), "largest deviation 0,"),
    "moments, batch": (lambda: hw.moments(BATCH, NOISY, V), "3 groups"),
    "design": (lambda: hw.design.average([0, 1], K, leak=0.01), "average of keys 0, 1: reached"),
    "design, impossible": (lambda: hw.design.copy(3, K), "copy key 3: impossible"),
    "reach": (lambda: hw.design.reach(K), "3 of 4 keys can win alone; 1 unreachable"),
    "reach, one key": (lambda: hw.design.reach(K[:1]), "1 of 1 keys"),
    "check": (lambda: Report("hand<in>.md", VERDICTS), "1 correct, 1 wrong"),
    "check, nothing": (lambda: Report("empty.md", ()), "nothing was judged"),
    "audit": (_audit, "6 heads, 256 tokens"),
}


@pytest.mark.parametrize("what", RESULTS)
def test_a_result_shows_itself(what):
    make, words = RESULTS[what]
    result = make()
    line = repr(result)
    assert re.search(words, line)
    assert len(line) < 200
    assert "\n" not in line
    assert "array(" not in line

    cell = result._repr_html_()
    assert len(cell) < 10_000
    assert "<script" not in cell
    assert "hand<in>" not in cell
    assert " inf" not in cell
    assert " nan" not in cell

    drawn = svg(result.plot())
    assert drawn.startswith("<svg")


def test_sets_that_can_win_are_counted():
    assert repr(hw.design.reach(K, sets=[(0, 1), (0, 3)])) == "<SetReach: 1 of 2 sets can win>"


def test_a_measure_that_some_heads_lack_is_drawn_and_an_unknown_one_refused():
    table = _audit(effective_keys=np.nan)
    assert svg(table.plot()).startswith("<svg")
    with pytest.raises(hw.InputError, match="a measure"):
        table.plot("beauty")


def test_a_table_without_any_number_is_drawn():
    empty = charts.shades(np.full((2, 3), np.nan), title="none", across="x", down="y")
    assert svg(empty).startswith("<svg")


def test_results_of_torch_show_themselves():
    torch = pytest.importorskip("torch", reason="the models extra is not installed")
    q = torch.ones(2, dtype=torch.float32, requires_grad=True)
    result = hw.attend(q, torch.tensor(K, dtype=torch.float32), torch.tensor(V))
    assert "on 4 keys" in repr(result)
    assert svg(result.plot()).startswith("<svg")
