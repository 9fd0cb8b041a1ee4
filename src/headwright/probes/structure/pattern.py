"""What depends on what: one token is changed, and which outputs move is given a name.

With a stated intent the picture is judged against it. Without one it is named, and a name that
holds at every size is enough; only what no intent explains is broken: tokens that are seen at large
logits only, in long inputs only, or by one head or one text of the batch only.
"""

from __future__ import annotations

import numpy as np

from headwright.probes.examination import Examination
from headwright.probes.intent import Intent
from headwright.probes.layer.layer import CAUSAL, DOCUMENTS, Options, Refusal
from headwright.probes.record import BROKEN, HOLDS, UNCLEAR, Counterexample, Finding
from headwright.probes.structure.packed import wrong_with_documents
from headwright.probes.structure.visible import odd
from headwright.probes.structure.visible.corner import corner
from headwright.probes.structure.visible.found import Found, found
from headwright.probes.structure.visible.leaks import leak
from headwright.probes.structure.visible.shapes import FULL
from headwright.probes.structure.visible.witness import Wrong, first_wrong, of_leak, of_pair

NAME = "pattern"
_PLAIN = Options()
_SWITCHED = Options(causal=True)


def probe(exam: Examination) -> Finding:
    seen = found(exam)
    exam.depends = seen.telling.any_moved
    exam.pattern = seen.name
    if not seen.moves_at_all and not _meant_alone(exam, seen):
        why = "no output moves with another token: are its weights zero, or too small to see?"
        return Finding(NAME, UNCLEAR, why)
    if exam.expect is None:
        return _named(exam, seen)
    if exam.expect.kind == "documents":
        return _judged_documents(exam)
    return _judged(exam, exam.expect, seen)


def _meant_alone(exam: Examination, seen: Found) -> bool:
    """A function of values has no weights that could hide what it sees."""
    alone = exam.expect is not None and exam.expect == Intent("window", 1)
    return alone or (exam.layer.form == "qkv" and bool(seen.smallest.any_moved.any()))


def _broken(words: str, shown: Counterexample) -> Finding:
    return Finding(NAME, BROKEN, f"{words}: {shown.words}", shown)


def _judged(exam: Examination, expect: Intent, seen: Found) -> Finding:
    """Against the intent; a layer with a switch for the causal mask may need it."""
    options = _PLAIN
    wrong = _against(expect, seen)
    if wrong is not None and CAUSAL in exam.layer.takes and expect.kind != "full":
        switched = _switched(exam)
        if switched is not None and _against(expect, switched) is None:
            wrong = None
            seen = switched
            options = _SWITCHED
    if wrong is not None:
        return _broken(f"{expect} expected, {seen.name} found", of_pair(wrong))
    leaking = leak(exam, seen, options)
    if leaking is not None:
        return _broken(f"{expect}, but hidden tokens are seen", of_leak(leaking, options))
    unseen = _unreached(expect, seen)
    if unseen:
        return Finding(NAME, UNCLEAR, unseen)
    return Finding(NAME, HOLDS, _evidence(exam, seen, options, str(expect)))


def _unreached(expect: Intent, seen: Found) -> str:
    longest = seen.pictures[-1].any_moved.shape[1]
    if expect.kind == "window" and expect.size is not None and expect.size >= longest:
        return f"causal up to {longest} tokens; a window of {expect.size} was not reached"
    return ""


def _against(expect: Intent, seen: Found) -> Wrong | None:
    def expected(queries: int, keys: int) -> np.ndarray:
        sees = expect.sees(queries, keys)
        assert sees is not None
        return sees

    return first_wrong(seen.pictures, expected)


def _switched(exam: Examination) -> Found | None:
    """With `is_causal=True`, where the layer answers to it."""
    plain = found(exam)
    given = plain.smallest.moves[0].scene.x
    try:
        if np.array_equal(exam.layer.run(given, _SWITCHED), exam.layer.run(given)):
            return plain
        return found(exam, _SWITCHED)
    except Refusal:
        return None


def _judged_documents(exam: Examination) -> Finding:
    wrong, way = wrong_with_documents(exam)
    told = {DOCUMENTS: "document numbers", "positions": "positions that start again"}
    by = told.get(way, way)
    if wrong is not None:
        return _broken(f"documents expected ({by})", of_pair(wrong))
    return Finding(NAME, HOLDS, f"documents: no token sees another document's ({by})")


def _named(exam: Examination, seen: Found) -> Finding:
    """No intent is stated: what was found has a name, or no intent explains it."""
    odd_one = _unexplained(seen)
    if odd_one is not None:
        words, wrong = odd_one
        return _broken(words, of_pair(wrong))
    leaking = leak(exam, seen, _PLAIN)
    if leaking is not None:
        return _broken(f"{seen.name}, but hidden tokens are seen", of_leak(leaking, _PLAIN))
    if DOCUMENTS in exam.layer.takes:
        wrong, _ = wrong_with_documents(exam)
        if wrong is not None:
            return _broken("told the documents of its tokens", of_pair(wrong))
    if seen.shape is FULL and CAUSAL in exam.layer.takes:
        broken = _broken_switch(exam)
        if broken is not None:
            return broken
    if seen.shape is None:
        return Finding(NAME, UNCLEAR, _irregular(seen))
    return Finding(NAME, HOLDS, _evidence(exam, seen, _PLAIN, seen.name))


def _unexplained(seen: Found) -> tuple[str, Wrong] | None:
    wrong = odd.one_text_differs(seen)
    if wrong is not None:
        return "texts of one batch see different tokens", wrong
    wrong = odd.one_head_sees_the_future(seen)
    if wrong is not None:
        return "some heads hide the future and others do not", wrong
    wrong = odd.future_at_length(seen)
    if wrong is not None:
        return "causal in shorter inputs", wrong
    return None


def _broken_switch(exam: Examination) -> Finding | None:
    """`is_causal=True` states an intent of its own; that it changes nothing is no break, because
    some libraries take it as a hint."""
    switched = _switched(exam)
    if switched is None or switched.shape is FULL:
        return None
    wrong = _against(Intent("causal"), switched)
    if wrong is not None:
        return _broken(f"with its causal switch on, {switched.name}", of_pair(wrong))
    leaking = leak(exam, switched, _SWITCHED)
    if leaking is not None:
        shown = of_leak(leaking, _SWITCHED)
        return _broken("with its causal switch on, hidden tokens are seen", shown)
    return None


def _irregular(seen: Found) -> str:
    names = odd.names_of_heads(seen)
    if len(set(names)) > 1 and "irregular" not in names:
        return f"heads differ: {', '.join(names)}"
    sizes = [one.any_moved.shape[1] for one in seen.pictures]
    by_size = [f"{odd.name_of([one])} at {n}" for n, one in zip(sizes, seen.pictures, strict=True)]
    return f"no one name fits all lengths: {', '.join(by_size)} tokens"


def _evidence(exam: Examination, seen: Found, options: Options, name: str) -> str:
    sizes = [str(one.any_moved.shape[1]) for one in seen.pictures]
    many = f"{', '.join(sizes[:-1])} and {sizes[-1]}" if len(sizes) > 1 else sizes[0]
    parts = [f"{name}, at {many} tokens"]
    if options.causal:
        parts.append("with its causal switch on")
    elif seen.shape is FULL and CAUSAL in exam.layer.takes:
        parts += _with_switch(exam)
    aligned = corner(exam, seen, options)
    if aligned.words:
        parts.append(aligned.words)
    if aligned.nothing:
        parts.append(f"a row that sees nothing gives {aligned.nothing}")
    return "; ".join(parts)


def _with_switch(exam: Examination) -> list[str]:
    switched = _switched(exam)
    if switched is None:
        return []
    if switched.shape is FULL:
        return ["its causal switch changes nothing"]
    parts = [f"with its causal switch on {switched.name}"]
    words = corner(exam, switched, _SWITCHED).words
    return [*parts, words] if words else parts
