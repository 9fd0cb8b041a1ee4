"""When does almost all weight fall on key j? A stated condition is taken at its word.

Worlds are built that might satisfy it (small leads, huge scores with a larger rival, long keys that
point away, q equal to k_j, ...); among those that do, alpha_j is computed. The worst of them
decides, and is the counterexample. `x >> y` means a difference of at least `MARGIN` for scores and
a large ratio for things that are positive.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from headwright import attention
from headwright.exercise.instances import SEED, Instance, orthonormal
from headwright.homework.locating.answer import Answer, Judged, unread
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, symbols, tree, walk
from headwright.homework.meaning.sizes import size_of
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.target import target_letter
from headwright.homework.meaning.terms import KEYS, bare, is_score
from headwright.homework.scenes.arithmetic import Mismatch, Unknown, Value
from headwright.homework.scenes.evaluate import evaluate
from headwright.homework.scenes.scene import Roles, Scene
from headwright.homework.verdict import Outcome

ENOUGH = 0.9
MARGIN = 20.0
RATIO = 90.0  # nine rivals leave ENOUGH to key j from a ratio of 81 on
# Leads around ln 81 = 4.39, which puts ENOUGH on j at n = 10, so that a stated number is judged by
# what it allows.
LEADS = (0.3, 2.0, 3.0, 3.5, 4.0, 4.2, 4.35, 4.45, 4.6, 5.0, 6.0, 8.0, 10.0, 15.0)
REPAIR = "k_j'q - k_i'q >= ln((n - 1) 99) for every i != j: 6.79 at n = 10 puts 99 % on j"
SIGNS = {">", ">>", "<", "<<", ">=", "<=", "=", "~=", "->"}


@dataclass(frozen=True)
class Case:
    """One world: keys, a query, and where it came from."""

    K: np.ndarray
    q: np.ndarray
    story: str

    @functools.cached_property
    def weights(self) -> np.ndarray:
        return attention.weights(self.K @ self.q)

    @functools.cached_property
    def orthonormal(self) -> bool:
        return bool(np.allclose(self.K @ self.K.T, np.eye(len(self.K))))


J = 2
_NONE = np.eye(10)  # a condition speaks of keys and the query only


@functools.cache
def cases() -> tuple[Case, ...]:
    """n = 10 keys in R^10, key J the one that should win."""
    rng = np.random.default_rng(SEED)
    n = 10
    out = []
    skew = rng.standard_normal((n, n)) + 3 * np.eye(n)
    basis = orthonormal(n, n, rng)
    for lead in (0.1, 1.0, MARGIN, 2 * MARGIN, 6 * MARGIN):
        for shift in (0.0, -3 * MARGIN, 3 * MARGIN, 1.5 * MARGIN):
            z = np.full(n, shift)
            z[J] += lead
            out.append(Case(skew, np.linalg.solve(skew, z), f"key j leads by {lead:g}"))
            out.append(Case(basis, basis.T @ z, f"key j leads by {lead:g}, orthonormal keys"))
    for lead in LEADS:
        out.append(Case(basis, lead * basis[J], f"key j leads by {lead:g}, orthonormal keys"))
    out.append(Case(basis, np.zeros(n), "all scores are equal"))
    rival = np.full(n, -200.0)
    rival[J], rival[5] = 2 * MARGIN, 3 * MARGIN
    out.append(Case(skew, np.linalg.solve(skew, rival), "another key has an even larger score"))
    far = np.zeros(n)
    far[J], far[5] = -2 * MARGIN, 0.5
    out.append(Case(skew, np.linalg.solve(skew, far), "key j has a very negative score"))
    long = basis.copy()
    long[J] *= 100.0
    out.append(Case(long, -basis[J], "key j is 100 times longer and points away from q"))
    out.append(Case(long, 0.001 * basis[J], "key j is long but q is short"))
    twice = basis.copy()
    twice[5] = 2 * basis[J]
    for beta in (1.0, 2 * MARGIN):
        out.append(Case(basis, beta * basis[J], f"q = {beta:g} k_j, orthonormal keys"))
        out.append(Case(twice, beta * basis[J], f"q = {beta:g} k_j, another key is 2 k_j"))
    return tuple(out)


def judge_condition(answer: Answer) -> Judged:
    found = [s for s in answer.statements if _is_condition(s.chain)] + _worded(answer.statements)
    if not found:
        return unread("no relation between scores was found")
    found = [replace(s, chain=_largest(s.chain)) for s in found]
    letter = target_letter(answer.everything, found)
    if letter is None:
        return Judged(Outcome("unread", "could not tell which key is meant to win"), tuple(found))
    alone = [(s, _outcome([s], letter, answer)) for s in found]
    right = [(s, o) for s, o in alone if o.status == "correct"]
    if right:
        return Judged(right[-1][1], (right[-1][0],))
    together = _outcome(found, letter, answer) if len(found) > 1 else alone[0][1]
    if together.status == "unread":
        read = [(s, o) for s, o in alone if o.status != "unread"]
        together = read[-1][1] if len(read) == 1 and len(found) == 1 else together
    return Judged(together, tuple(found))


def _worded(statements: list[Statement]) -> list[Statement]:
    """`k_j'q - k_i'q` "is large": a quantity and a word about its size."""
    out = []
    for statement in statements:
        term = statement.chain.terms[0]
        if (
            statement.chain.relations
            or not is_score(term)
            or words.says("negation", statement.after)
        ):
            continue
        said = statement.after[:45].split(",")[0]
        if words.says("large", said):
            out.append(replace(statement, chain=Chain((term, tree.Number(0.0)), (">>",))))
        elif words.says("small", said) or words.says("bounded", said):
            out.append(replace(statement, chain=Chain((term, tree.Number(1.0)), ("<=",))))
    return out


def _is_condition(chain: Chain) -> bool:
    """A relation about keys and the query that could be a condition; weights and definitions are
    not."""
    if (
        not chain.relations
        or not set(chain.relations) <= SIGNS
        or any(isinstance(t, Missing) for t in chain.terms)
    ):
        return False
    names = {s.name for t in chain.terms for s in symbols(t)}
    indices = {s.index for t in chain.terms for s in symbols(t) if s.name in KEYS}
    if "alpha" in names or not names & KEYS or indices & {"a", "b"}:
        return False
    if set(chain.relations) <= {"=", "~="}:
        if isinstance(chain.terms[-1], tree.Call) and chain.terms[-1].function == "argmax":
            return True
        far = any(isinstance(n, tree.Infinity) for t in chain.terms for n in walk(t))
        scores = [t for t in chain.terms if is_score(t)]
        return (
            len(scores) == len(chain.terms) > 1
            or far
            or bare(chain.terms[0]) == Symbol("q")
            or bare(chain.terms[-1]) == Symbol("q")
            or _settled(chain)
        )
    return True


def _largest(chain: Chain) -> Chain:
    """`j = argmax_i k_i' q` says that score j is the largest: k_j'q > k_i'q."""
    last, first = chain.terms[-1], bare(chain.terms[0])
    if not isinstance(last, tree.Call) or last.function != "argmax" or first is None or first.index:
        return chain
    score = last.arguments[0]
    running = next((s.index for s in symbols(score) if s.name in KEYS), "i")
    return Chain((_renamed(score, running, first.name), score), (">",))


def _renamed(node: Node, old: str, new: str) -> Node:
    if isinstance(node, Symbol):
        return Symbol(node.name, new) if node.index == old else node
    if isinstance(node, tree.Multiply):
        return tree.Multiply(tuple(_renamed(f, old, new) for f in node.factors), node.dotted)
    if isinstance(node, (tree.Transpose, tree.Prime)):
        return type(node)(_renamed(node.of, old, new))
    return node


def _settled(chain: Chain) -> bool:
    """`k_i'q = 0`: a score said to be some number."""
    return (
        is_score(chain.terms[0])
        and isinstance(chain.terms[-1], tree.Number)
        and len(chain.terms) == 2
    )


def _adds_scores(chain: Chain) -> bool:
    """`k_j'q >> sum_i k_i'q`: scores are summed, which softmax never does; meant is most likely
    each of them."""
    return any(isinstance(n, tree.Sum) and is_score(n.body) for t in chain.terms for n in walk(t))


def _outcome(statements: list[Statement], letter: str, answer: Answer) -> Outcome:
    if any(_adds_scores(s.chain) for s in statements):
        return Outcome("unread", "a sum of scores is compared; softmax compares each of them")
    try:
        read = [(s.chain, Reading.of(s.chain, letter, answer)) for s in statements]
        fitting = [c for c in cases() if all(_holds(chain, reading, c) for chain, reading in read)]
    except Unknown as error:
        return Outcome("unread", f"could not tell {error}")
    except Mismatch as error:
        return Outcome("wrong", f"the condition has no value: {error}", repair=REPAIR)
    if not fitting:
        return Outcome("unread", "no example that satisfies the condition was found")
    worst = min(fitting, key=lambda c: c.weights[J])
    alpha = float(worst.weights[J])
    if alpha >= ENOUGH:
        return Outcome(
            "correct",
            f"in all {len(fitting)} examples that satisfy it alpha_j >= {alpha:.3f} (n = 10)",
        )
    tame = [c for c in fitting if np.abs(np.delete(c.K @ c.q, J)).max() <= 1.0]
    plain = [c for c in fitting if c.orthonormal]
    leads = all(c.weights.argmax() == J for c in fitting)
    bounded = bool(tame) and all(c.weights[J] >= ENOUGH for c in tame)
    ahead = bool(plain) and all(c.weights.argmax() == J for c in plain)
    if leads or bounded or ahead:
        worst = min(
            plain if ahead and not leads and not bounded else fitting, key=lambda c: c.weights[J]
        )
        reason = f"it can hold and still leave alpha_j = {_short(float(worst.weights[J]))} at n = 10 ({worst.story})"
        return Outcome("incomplete", reason, _example(worst), REPAIR)
    reason = f"it does not force the weight onto j: {worst.story}, and alpha_j = {_short(alpha)} at n = 10"
    return Outcome("wrong", reason, _example(worst), REPAIR)


def _short(x: float) -> str:
    return f"{x:.3f}" if x >= 1e-3 else f"{x:.0e}"


def _example(case: Case) -> dict[str, object]:
    return {
        "story": case.story,
        "scores": (case.K @ case.q).round(3),
        "weights": case.weights.round(4),
        "j": J,
    }


@dataclass(frozen=True)
class Reading:
    """What the letters of a condition mean, worked out once for all worlds."""

    target: str
    others: tuple[str, ...]
    scalars: dict[Symbol, float]
    roles: Roles

    @classmethod
    def of(cls, chain: Chain, letter: str, answer: Answer) -> Reading:
        used = [s for t in chain.terms for s in symbols(t)]
        scalars = {s: _scalar(s, answer) for s in used if s.name not in KEYS | {"q", "n", "d"}}
        spelled = {
            s.index: _variable(s.index) for s in used if "!=" in s.index or "notin" in s.index
        }
        return cls(
            letter,
            tuple(_free_letters(chain, letter)),
            scalars,
            Roles(dict.fromkeys(KEYS, "keys"), spelled),
        )


def _holds(chain: Chain, reading: Reading, case: Case) -> bool:
    """Is the statement true in this world, for every other key its free index may name?"""
    instance = Instance(case.K, _NONE, _NONE[:, :1], _NONE[:, 1:2], ((reading.target, J),))
    scene = Scene(
        instance, reading.roles, scalars=reading.scalars, given={Symbol("q"): case.q[:, None]}
    )
    places = [k for k in range(len(case.K)) if k != J] if reading.others else [J]
    return all(_true(chain, scene, dict.fromkeys(reading.others, place)) for place in places)


def _free_letters(chain: Chain, letter: str) -> list[str]:
    found = {
        _variable(s.index) for t in chain.terms for s in symbols(t) if s.name in KEYS and s.index
    }
    return sorted(found - {letter, ""})


def _variable(index: str) -> str:
    """`i`, and also the `i` of k_{i != j}."""
    return index.split("!=")[0].split("notin")[0]


def _true(chain: Chain, scene: Scene, bound: dict[str, int]) -> bool:
    values = [evaluate(t, scene, bound) for t in chain.terms]
    return all(
        _related(r, values[k], values[k + 1], (chain.terms[k], chain.terms[k + 1]))
        for k, r in enumerate(chain.relations)
    )


def _scalar(symbol: Symbol, answer: Answer) -> float:
    if symbol.name in ("epsilon", "delta"):
        return 0.01
    size = size_of(symbol, list(answer.pieces))
    if size.said in ("number", "least"):
        return size.number
    return 0.1 if size.said in ("positive", "any", "small") else MARGIN


def _related(relation: str, left: Value, right: Value, nodes: tuple[Node, Node]) -> bool:
    if relation in ("<", "<<", "<="):
        return _related(
            {"<": ">", "<<": ">>", "<=": ">="}[relation], right, left, (nodes[1], nodes[0])
        )
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return _vectors_related(relation, left, right)
    if relation in ("=", "~=", "->"):
        if math.isinf(left) or math.isinf(right):
            finite, infinite = (left, right) if math.isinf(right) else (right, left)
            return finite >= MARGIN if infinite > 0 else finite <= -MARGIN
        return abs(left - right) <= 0.05 * max(1.0, abs(right))
    if relation == ">>":
        if math.isinf(right):
            return False
        if any(_positive(n) for n in nodes):
            return left >= RATIO * right if right > 0 else left > RATIO
        return left - right >= MARGIN
    return left > right if relation == ">" else left >= right


def _vectors_related(relation: str, left: Value, right: Value) -> bool:
    big, small = float(np.linalg.norm(left)), float(np.linalg.norm(right))
    if relation in ("=", "~=", "->"):
        return np.shape(left) == np.shape(right) and bool(np.allclose(left, right, atol=0.01))
    return big >= RATIO * small if relation == ">>" else big > small


def _positive(node: Node) -> bool:
    """A quantity that is positive by form (an exponential, a norm): compared by ratio."""
    return isinstance(node, tree.Norm) or any(
        isinstance(n, tree.Call) and n.function == "exp" for n in walk(node)
    )
