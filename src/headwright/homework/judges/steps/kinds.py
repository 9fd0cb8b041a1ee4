"""The kinds of steps: weights, scores, outputs of heads, the range and the law of a key's length."""

from __future__ import annotations

import math

import numpy as np

from headwright import attention
from headwright.exercise.instances import instances
from headwright.homework.judges.steps.points import LENGTHS, VALUES, Setting
from headwright.homework.judges.steps.truth import consistent, readable, true_everywhere
from headwright.homework.meaning.formula import Chain, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import PAIR, head, is_score
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, agree
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.queries import values
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

SIGMA = math.sqrt(0.5)


def _weights(statement: Statement, setting: Setting) -> Outcome | None:
    """`alpha_a = ...`"""
    chain = statement.chain
    first = head(chain)
    if first is None or first.name != "alpha" or first.index not in PAIR or len(chain.terms) < 2:
        return None
    chain = _without_limits(chain)
    formula = [
        t
        for t in chain.terms[1:]
        if any(isinstance(n, tree.Divide) for n in walk(t)) and symbols(t)
    ]
    if not formula:
        return None
    truth = (
        None if setting.many or not readable(chain, setting) else true_everywhere(chain, setting)
    )
    if truth is not None and truth.status == "correct":
        return truth
    inner = consistent(chain, setting)
    if inner is not None and inner.status == "wrong":
        return inner
    return truth


def _without_limits(chain: Chain) -> Chain:
    """Drop members with infinity in them: `1/(1 + inf)` belongs to one case, not to the formula."""
    keep = [
        k
        for k, t in enumerate(chain.terms)
        if not any(isinstance(n, tree.Infinity) for n in walk(t))
    ]
    return Chain(
        tuple(chain.terms[k] for k in keep), tuple(chain.relations[k - 1] for k in keep if k)
    )


def _scores(statement: Statement, setting: Setting) -> Outcome | None:
    """`k_a' q = ...`"""
    chain = statement.chain
    if (
        not is_score(chain.terms[0])
        or len(chain.terms) < 2
        or not set(chain.relations) <= {"=", "~="}
    ):
        return None
    if not any(s.name in ("k", "K") and s.index in PAIR for s in symbols(chain.terms[0])):
        return None
    if setting.heads is None:
        return None
    return true_everywhere(chain, setting)


def _outputs(statement: Statement, setting: Setting) -> Outcome | None:
    """`c_1 = v_a`; for one head a formula `c = ... v_a + ... v_b`."""
    chain = statement.chain
    first = head(chain)
    if (
        first is None
        or first.name not in ("c", "C")
        or len(chain.terms) < 2
        or not set(chain.relations) <= {"=", "~=", "->"}
    ):
        return None
    valued = [t for t in chain.terms[1:] if {s.name for s in symbols(t)} & set(VALUES)]
    if not valued:
        return None
    if first.index in ("1", "2"):
        return _head_output(first, valued[-1], setting)
    if not first.index and setting.varies and not setting.many:
        return formula_in_length(chain, setting)
    return None


def _head_output(first: Symbol, term: Node, setting: Setting) -> Outcome | None:
    """With the student's own queries, made sharp, at the means."""
    if setting.heads is None or len(setting.heads.expressions) < 2:
        return None
    instance = instances()[0]
    Q = values(setting.heads, instance, 30.0)
    Q = Q * max(1.0, 30.0 / float(np.linalg.norm(Q, axis=1).min() or 1.0))
    truth = (attention.weights(Q @ instance.K.T) @ instance.V)[int(first.index) - 1][:, None]
    try:
        stated = evaluate(term, Scene(instance, Roles(VALUES, setting.heads.roles.indices)))
    except (Unknown, Mismatch):
        return None
    if agree(stated, truth, 1e-3):
        return Outcome("correct", f"that is what head {first.index} gives")
    alpha = attention.weights(Q @ instance.K.T)[int(first.index) - 1]
    return Outcome(
        "wrong",
        f"head {first.index} puts {alpha[1]:.2f} on a and {alpha[3]:.2f} on b",
        {"weights": alpha.round(3)},
    )


def formula_in_length(chain: Chain, setting: Setting | None = None) -> Outcome | None:
    """A formula for c or alpha_a in which the length of k_a appears; None for anything else."""
    setting = setting or Setting(None, True, False, {"mu": "means"})
    first = head(chain)
    if first is None or not (
        (first.name in ("c", "C") and not first.index) or first == Symbol("alpha", "a")
    ):
        return None
    scales = setting.heads.scales if setting.heads is not None else []
    used = [s for t in chain.terms[1:] for s in symbols(t) if s not in scales]
    if not any(s.name in LENGTHS and s.index in ("", "a", "1") for s in used):
        return None
    if any(s.name in LENGTHS and s.index not in ("", "a", "b", "1") for s in used):
        return None  # epsilon_i in a sum is some small number, not a length
    inner = consistent(chain, setting)
    if inner is not None and inner.status == "wrong":
        return inner
    return true_everywhere(chain, setting)


def _range(statement: Statement, setting: Setting) -> Outcome | None:
    """`gamma in [0.5, 1.5]`: how often is that true?"""
    chain = statement.chain
    first = head(chain)
    if not setting.varies or setting.many or first is None or chain.relations != ("in",):
        return None
    interval = chain.terms[1]
    about = first.name in LENGTHS or (first.name in ("k", "K") and first.index == "a")
    if not about or not isinstance(interval, tree.Bracket) or len(interval.items) != 2:
        return None
    ends = [_coefficient(e, setting) for e in interval.items]
    if any(e is None for e in ends):
        return None
    low, high = ends
    mass = _normal((high - 1) / SIGMA) - _normal((low - 1) / SIGMA)  # type: ignore[operator]
    if mass >= 0.9:
        return Outcome("correct", f"gamma lies there {100 * mass:.0f} % of the time")
    held = f"only {100 * mass:.0f} % of the samples lie in [{low:g}, {high:g}]"
    reason = f"1/2 is the variance of gamma, its deviation is {SIGMA:.3f}: {held}"
    return Outcome("wrong", reason, {"probability": mass})


def _coefficient(node: Node, setting: Setting) -> float | None:
    instance = instances()[0]
    try:
        value = evaluate(
            node, Scene(instance, Roles({**setting.means, "mu": "means", "u": "means"}))
        )
    except (Unknown, Mismatch):
        return None
    return float(value.ravel() @ instance.K[1]) if isinstance(value, np.ndarray) else value


def _normal(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _law(statement: Statement, setting: Setting) -> Outcome | None:
    """`gamma ~ N(1, 1/2)`; the key b does not vary."""
    chain = statement.chain
    first = head(chain)
    if (
        not setting.varies
        or first is None
        or "~" not in chain.relations
        or first.name not in LENGTHS
    ):
        return None
    law = chain.terms[-1]
    if (
        not isinstance(law, tree.Apply)
        or len(law.arguments) != 2
        or law.arguments[0] != tree.Number(1.0)
    ):
        return None
    if first.index == "b":
        return Outcome(
            "wrong",
            "only k_a varies in length; k_b has covariance alpha I, so its factor is 1",
            {"length of k_b": 1.0},
        )
    variance = _coefficient(law.arguments[1], setting)
    if variance is None:
        return None
    if abs(variance - 0.5) < 1e-9:
        return Outcome("correct", "the length of k_a along mu_a is N(1, 1/2)")
    return Outcome("wrong", f"the variance of the length is 1/2, not {variance:g}")


KINDS = {"weights": _weights, "scores": _scores, "output": _outputs, "range": _range, "law": _law}
