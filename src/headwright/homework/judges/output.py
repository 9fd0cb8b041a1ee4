"""What the output is when key j takes all the weight (a.out): the chain `c = ... ~ v_j` is
evaluated."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from headwright.exercise.instances import Instance, of_ten_keys
from headwright.homework.judges.claims import NEAR, VALUE_ROLES, about_output, letters, members
from headwright.homework.judges.points.judge import judged_by_points, read
from headwright.homework.locating.answer import Answer, Judged, decide
from headwright.homework.meaning import words
from headwright.homework.meaning.formula import Chain, Missing, Node, Symbol, tree, walk
from headwright.homework.meaning.notation import INDEX_LETTERS, KEYS, PAIR
from headwright.homework.meaning.shapes import shapes_of
from headwright.homework.meaning.statements import Statement
from headwright.homework.meaning.terms import bare, indices_in
from headwright.homework.meaning.winning_key import winning_letter
from headwright.homework.scenes.arithmetic import Mismatch, Value, agree
from headwright.homework.scenes.roles import Roles
from headwright.homework.scenes.scene import Scene
from headwright.homework.verdict import Outcome

MOST_PIECES = 8  # letters and words of one sentence
LEAD = 40.0  # of key j over all others: their weight is nothing in floating point


def judge_output(answer: Answer) -> Judged:
    """Every readable member of `c = ... ~ v_j` must be the output when key j leads by far; where c
    is not stated, the words are read."""
    found = [s for s in answer.statements if _says_output(s.chain)] or _worded(answer)
    if not found:
        return judged_by_points(read(answer, "a.out"))
    stated = [piece for piece in answer.everything if isinstance(piece, Statement)]
    conditions = [s for s in stated if "scores compared" in shapes_of(s.chain)]
    winner = winning_letter(answer.everything, conditions)
    if not conditions:  # who wins was said in words, or not at all: the author's letter counts
        winner = _letter_of_values(found) or winner
    return decide(found, lambda statement: _outcome(statement.chain, winner))


def _letter_of_values(found: list[Statement]) -> str:
    """The index of the values in these statements, where there is but one."""
    used = {index for s in found for index in indices_in(s.chain, VALUE_ROLES)} & INDEX_LETTERS
    return next(iter(used)) if len(used) == 1 else ""


def _says_output(chain: Chain) -> bool:
    """A statement `c = ...` that says more than the definition `c = sum_i alpha_i v_i`."""
    if not about_output(chain) or not set(chain.relations) <= {"=", "~=", "->", "~"}:
        return False
    said = [term for term in chain.terms[1:] if not isinstance(term, Missing)]
    return any(not _is_definition(term) for term in said)


def _is_definition(node: Node) -> bool:
    if isinstance(node, tree.Add) and any(isinstance(t, tree.Dots) for t in node.terms):
        return True
    sums = [n for n in walk(node) if isinstance(n, tree.Sum)]
    return any(symbol.name == "alpha" for symbol in letters(sums))


def _worded(answer: Answer) -> list[Statement]:
    """ "The output is approximately" `v_j`: a lone value behind words of likeness."""
    own = {id(s) for s in answer.statements if _is_lone_value(s.chain)}
    lone = [(k, p) for k, p in enumerate(answer.pieces) if isinstance(p, Statement)]
    told = [(p, _sentence_before(k, answer)) for k, p in lone if id(p) in own]
    near = [statement for statement, sentence in told if _is_likened(statement, sentence)]
    distinct = {s.chain.terms[0] for s in near}
    if len(distinct) != 1:
        return []
    equation = Chain((Symbol("c"), distinct.pop()), ("~=",))
    return [replace(s, chain=equation) for s in near]


def _is_lone_value(chain: Chain) -> bool:
    symbol = bare(chain.terms[0])
    return symbol is not None and symbol.name in VALUE_ROLES and not chain.relations


def _sentence_before(at: int, answer: Answer) -> str:
    """The words of the sentence up to that piece, across the letters that it mentions."""
    said: list[str] = []
    for piece in reversed(answer.pieces[max(0, at - MOST_PIECES) : at]):
        if isinstance(piece, Statement):
            if piece.chain.relations:
                break
            continue
        sentences = re.split(r"[.!?。！？]", piece.text)
        said.append(sentences[-1])
        if len(sentences) > 1:
            break
    return " ".join(reversed(said))


def _is_likened(statement: Statement, sentence: str) -> bool:
    denied = words.says("negation", sentence + statement.after[:25])
    several = words.says("every", sentence) or words.says("average", sentence)
    near = words.says("close_to", sentence[-90:]) or _verb_behind(statement.after)
    return near and not denied and not several


def _verb_behind(after: str) -> bool:
    """Korean and Japanese say it behind the value."""
    return words.unspaced(after) and words.says("close_to", after[:25])


def _outcome(chain: Chain, winner: str | None) -> Outcome:
    """In the world where key j has weight one, c is v_j."""
    if any(s.name in VALUE_ROLES and s.index in PAIR for s in letters(chain.terms)):
        return Outcome("unread", "it speaks of key a or b, and not of the key that wins")
    instance = of_ten_keys()
    letter = winner or _only_letter(chain) or "j"
    weights = np.zeros(instance.n)
    weights[instance.j] = 1.0
    truth = instance.V[instance.j][:, None]
    repair = f"c ~ v_{letter}"
    try:
        found = members(chain.terms[1:], _scene(instance, letter, weights))
    except Mismatch as error:
        return Outcome("wrong", f"the statement has no value: {error}", repair=repair)
    if not found:
        return Outcome("unread", "the statement about c could not be evaluated")

    right = f"with all weight on key {letter} the output is v_{letter}"
    if all(agree(member, truth, NEAR) for member in found):
        return Outcome("correct", right)
    missed = f"the stated vector is off by {100 * _off(found[-1], truth):.0f}% of its length"
    example = {"weights": weights, "j": instance.j}
    return Outcome("wrong", f"{right}; {missed}", example, repair)


def _only_letter(chain: Chain) -> str:
    """The index of the values in a statement, where it is one letter."""
    indices = {s.index for s in letters(chain.terms) if s.name in VALUE_ROLES} & INDEX_LETTERS
    return indices.pop() if len(indices) == 1 else ""


def _scene(instance: Instance, letter: str, weights: np.ndarray) -> Scene:
    roles = VALUE_ROLES | dict.fromkeys(KEYS, "keys")
    # The student's letter is key j; then j itself, if it is written, is some other key.
    indices = {"j": "j"} if letter == "j" else {letter: "j", "j": "i"}
    query = {Symbol("q"): LEAD * instance.K[instance.j][:, None]}
    return Scene(instance, Roles(roles, indices), given=query, indexed={"alpha": weights})


def _off(found: Value, truth: np.ndarray) -> float:
    """The error as a share of the true vector's length; all of it for anything else."""
    if np.shape(found) != truth.shape:
        return 1.0
    return float(np.linalg.norm(np.subtract(found, truth)) / np.linalg.norm(truth))
