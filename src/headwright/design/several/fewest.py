"""Fewest heads: split S into faces, one head each, so that the mix of the heads is the target.

Subsets of an affinely independent S that one query can select are hereditary (a face of a face is a
face), so the smallest split is a colouring of the hypergraph of non-faces. Its edges are not known
beforehand: a mixed-integer programme proposes a split, every part is tested, and each failing part
becomes a cut, shrunk first to a smallest non-face so that it forbids as much as it can. Affinely
dependent S are not hereditary; there a cut forbids only the very part that failed. With equal head
weights (`uniform`) a key may be served by several heads.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from headwright.design.options import Options
from headwright.design.proofs.exclusion import Demand, excludes
from headwright.design.proofs.proof import Combination, verified
from headwright.design.separation.separate import selectable
from headwright.design.several.programme import Cut, Served, flow, partition
from headwright.design.solve.coordinates import head_problem
from headwright.design.target import Bias, Target, Wanted
from headwright.types import Array, Float, Keys, Mix

_MOST_CUTS = 5000


@dataclass(frozen=True)
class Split:
    """`faces` and their `mix`; `fewest` is a lower bound on the number of heads, proven under the
    condition `when`; `proven` says that it is attained. No faces: none was found, for the reason in
    `message`; `proof` then writes a key through others, and excludes any number of heads at the
    leak asked for."""

    faces: tuple[Target, ...]
    mix: Mix
    fewest: int
    proven: bool
    message: str
    proof: Combination | None = None
    when: str = "always"


@dataclass
class Tests:
    """Which parts of S one query can select; every answer is kept. `doubts` counts those nobody
    could decide."""

    K: Keys
    target: Target
    bias: Bias
    known: dict[frozenset[int], bool] = field(default_factory=dict)
    doubts: int = 0

    def __call__(self, part: frozenset[int]) -> bool:
        if part not in self.known:
            face = self._face(sorted(part))
            answer = selectable(self.K, list(face.support))
            self.doubts += answer.status == "undecided"
            self.known[part] = answer.status == "selectable" and self._consistent(face)
        return self.known[part]

    def _face(self, part: list[int]) -> Target:
        support = tuple(self.target.support[a] for a in part)
        shares = self.target.shares[part]
        return Target(support, shares / shares.sum())

    def _consistent(self, face: Target) -> bool:
        """On affinely dependent keys the shares may contradict each other."""
        return head_problem(self.K, face, self.bias).contradiction is None

    def smallest_failure(self, part: frozenset[int]) -> frozenset[int]:
        """Drop keys while the rest still fails: what is left fails only as a whole."""
        for a in sorted(part):
            if len(part) > 1 and not self(part - {a}):
                part = part - {a}
        return part


@dataclass
class _Search:
    target: Target
    tests: Tests
    uniform: bool
    hereditary: bool
    until: float
    cuts: list[Cut] = field(default_factory=list)

    def among(self, count: int) -> Served | str:
        """What each of `count` heads serves of every key; or "none" (there is no way) or "time"."""
        propose = flow if self.uniform else partition
        while len(self.cuts) < _MOST_CUTS:
            left = self.until - time.monotonic()
            if left <= 0:
                break
            answer = propose(count, self.target.shares, self.cuts, left)
            if isinstance(answer, str):
                return answer
            parts = {frozenset(np.flatnonzero(column > 0).tolist()) for column in answer.T}
            failed = [part for part in parts if not self.tests(part)]
            if not failed:
                return answer
            self.cuts += [self._cut(part) for part in failed]
        return "time"

    def _cut(self, part: frozenset[int]) -> Cut:
        return Cut(self.tests.smallest_failure(part)) if self.hereditary else Cut(part, whole=True)

    def greedy(self) -> Served:
        """Every key joins the first part that stays selectable with it."""
        parts: list[frozenset[int]] = []
        for a in range(len(self.target.support)):
            home = next((h for h, part in enumerate(parts) if self.tests(part | {a})), None)
            if home is None:
                parts.append(frozenset({a}))
            else:
                parts[home] |= {a}

        served = np.zeros((len(self.target.support), len(parts)))
        for h, part in enumerate(parts):
            served[sorted(part), h] = self.target.shares[sorted(part)]
        return served

    def found(self, served: Served, fewest: int, message: str = "") -> Split:
        mix = served.sum(axis=0)
        faces = []
        for column, weight in zip(served.T, mix, strict=True):
            part = np.flatnonzero(column > 0)
            support = tuple(self.target.support[a] for a in part)
            faces.append(Target(support, column[part] / weight))
        sure, when = self.sure(fewest)
        attained = sure == len(faces)
        return Split(tuple(faces), mix / mix.sum(), sure, attained, message, when=when)

    def none(self, fewest: int, message: str) -> Split:
        sure, when = self.sure(fewest)
        return Split((), np.zeros(0), sure, False, message, when=when)

    def sure(self, fewest: int) -> tuple[int, str]:
        """What is proven about the number of heads, and when.

        A mix that reaches the target at every leak has a limit, in which each head selects what it
        serves. So too few selectable parts exclude small leaks, and say nothing about large ones.
        An undecided test may have forbidden something possible: then nothing is proven at all. On
        affinely dependent keys only whole parts were tried.
        """
        if self.tests.doubts or fewest == 1:
            return 1, "always"
        words = ["for every leak small enough"]
        if self.uniform:
            words.append("heads of equal weight")
        if not self.hereditary:
            words.append("each key served by one head")
        return fewest, ", ".join(words)


def split(want: Wanted, *, heads: int | str, options: Options) -> Split:
    """The fewest faces that make up the target ("auto"), or exactly `heads` of them."""
    target = want.target
    m = len(target.support)
    hereditary = _independent(want.keys[list(target.support)])
    tests = Tests(want.keys, target, want.bias)
    until = time.monotonic() + options.seconds
    search = _Search(target, tests, options.uniform, hereditary, until)

    lost = [a for i, a in enumerate(target.support) if hereditary and not tests(frozenset({i}))]
    if lost:
        reason = f"key {lost[0]} cannot be selected even alone"
        return _hopeless(search, lost, want, options.storage, reason)
    if heads != "auto":
        return _exactly(search, int(heads))

    upper = search.greedy() if hereditary and not options.uniform else None
    most = 2 * m if options.uniform else m
    for count in range(1, most + 1):
        if upper is not None and upper.shape[1] == count:
            return search.found(upper, count)
        answer = search.among(count)
        if isinstance(answer, np.ndarray):
            return search.found(answer, count)
        if answer == "time":
            return _out_of_time(search, upper, count)
    reason = f"no split into {most} selectable faces or fewer exists"
    return _hopeless(search, list(target.support), want, options.storage, reason)


def _hopeless(search: _Search, keys: list[int], want: Wanted, storage: str, reason: str) -> Split:
    """No split exists. A key that others make up excludes any number of heads, if the leak is small
    enough."""
    beyond = len(search.target.support) + 1
    demand = Demand.of(
        search.target, leak=want.leak, bias=want.bias, storage=storage, one_head=False
    )
    for key in keys:
        found = selectable(want.keys, [key]).proof
        proof = None if found is None else verified(want.keys, found)
        if proof is not None and excludes(proof, demand):
            message = f"{reason}: no number of heads will do"
            return Split((), np.zeros(0), beyond, True, message, proof)
    return search.none(beyond, f"{reason}; a leak this large may still allow it")


def _exactly(search: _Search, heads: int) -> Split:
    answer = search.among(heads)
    if isinstance(answer, np.ndarray):
        return search.found(answer, 1)
    if answer == "time":
        return search.none(1, "out of time before a split was found or excluded")
    equal = " of equal weight" * search.uniform
    none = f"no split into {heads} selectable faces{equal} exists"
    # Parts of a selectable part are selectable only if S is affinely independent: then fewer heads
    # fail as well.
    fewest = heads + 1 if search.hereditary else 1
    return search.none(fewest, f"{none}; a leak this large may still allow one")


def _out_of_time(search: _Search, upper: Served | None, fewest: int) -> Split:
    needed = f"at least {fewest} heads are needed"
    if upper is None:
        return search.none(fewest, f"out of time: {needed}")
    message = f"out of time: {upper.shape[1]} heads found, at least {fewest} are needed"
    return search.found(upper, fewest, message)


def _independent(base: Float[Array, "m d"]) -> bool:
    """Affinely independent, by the singular values of the unit differences."""
    E = base[1:] - base[0]
    length = np.linalg.norm(E, axis=1)
    if not E.shape[0]:
        return True
    if E.shape[0] > E.shape[1] or not length.all():
        return False
    s = np.linalg.svd(E / length[:, None], compute_uv=False)
    return bool(s[-1] > 8 * max(E.shape) * np.finfo(float).eps * s[0])
