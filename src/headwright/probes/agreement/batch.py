"""A text gets the same answer alone, beside others, in another place, and beside itself; and no
text moves the answer of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headwright.probes.agreement.asking.compared import Compared, compared, judged
from headwright.probes.agreement.asking.written import call_written
from headwright.probes.examination import Examination
from headwright.probes.layer.inputs import Inputs
from headwright.probes.layer.layer import DOCUMENTS, PAIRS, POSITIONS, Options, Refusal
from headwright.probes.record import BROKEN, NOT_APPLICABLE, UNCLEAR, Finding
from headwright.probes.rounding import Rounding, apart

NAME = "batch"
_STREAM = 600
_TEXTS = 3
_ORDER = (2, 0, 1)
_TWICE = (0, 1, 0)
# The other text grows by this factor: what a shared scale or a sum over texts would show.
_LOUD = 30.0
_PLAIN = Options()


def probe(exam: Examination) -> Finding:
    sizes = replace(exam.layer.sizes, batch=_TEXTS)
    texts = exam.draw(_STREAM, sizes)
    draw = exam.draw_line(_STREAM, sizes)
    alone = [exam.layer.run(texts.text(place)) for place in range(_TEXTS)]
    try:
        together = exam.layer.run(texts)
    except Refusal as reason:
        return Finding(NAME, NOT_APPLICABLE, f"one text at a time: {reason}")
    bounds = [exam.rounding(texts.text(place)) for place in range(_TEXTS)]
    bound = Rounding(max(one.bound for one in bounds))

    found = [_leak(exam, texts, together, (draw, bound))]
    places = {"beside others": (0, 1, 2), "in another order": _ORDER, "beside itself": _TWICE}
    for words, order in places.items():
        answer = together if order == (0, 1, 2) else exam.layer.run(texts.text(*order))
        wanted = np.concatenate([alone[place] for place in order])
        script = _script(draw, order, _first_apart(answer, wanted))
        found.append(compared(f"a text alone, and {words}", wanted, answer, bound, script))
    found += _with_own_options(exam, texts, (draw, bound))
    return judged(NAME, found, f"the same rows alone, in a batch of {_TEXTS}, in another order")


def _leak(
    exam: Examination, texts: Inputs, together: np.ndarray, known: tuple[str, Rounding]
) -> Compared:
    """The other texts made large: the first must not move, be it a little."""
    draw, bound = known
    loud = texts.each(lambda a: np.concatenate([a[:1], _LOUD * a[1:]]))
    answer = exam.layer.run(loud)
    script = (
        f"x = {draw}\n"
        f"loud = x.each(lambda a: np.concatenate([a[:1], {_LOUD:g} * a[1:]]))\n"
        "one = layer.run(x)[0]\n"
        "other = layer.run(loud)[0]\n"
    )
    words = "other texts of the batch changed, and the first text's output"
    found = compared(words, together[0], answer[0], bound, script)
    if found.status == UNCLEAR:
        found = replace(found, status=BROKEN)
    return replace(found, why="texts leak into one another") if found.status == BROKEN else found


def _first_apart(answer: np.ndarray, wanted: np.ndarray) -> int:
    """The place in the batch where the rows are furthest apart."""
    gaps = [apart(one, other) for one, other in zip(answer, wanted, strict=True)]
    return int(np.argmax(gaps))


def _script(draw: str, order: tuple[int, ...], place: int) -> str:
    return (
        f"x = {draw}\n"
        f"one = layer.run(x.text({order[place]}))[0]\n"
        f"other = layer.run(x.text{order})[{place}]\n"
    )


def _with_own_options(
    exam: Examination, texts: Inputs, known: tuple[str, Rounding]
) -> list[Compared]:
    """Texts of one batch with positions, masks of pairs, or documents of their own."""
    draw, bound = known
    n = texts.tokens
    made = []
    if POSITIONS in exam.layer.takes:
        made.append(("positions", Options(positions=_positions(n))))
    if PAIRS in exam.layer.takes and n > 1:
        pairs = np.tril(np.ones((_TEXTS, 1, n, n), bool))
        pairs[1, :, :, 1:] &= np.eye(n, dtype=bool)[:, 1:]
        made.append(("masks", Options(pairs=pairs)))
    if DOCUMENTS in exam.layer.takes and n > 1:
        borders = np.arange(n) > np.arange(_TEXTS)[:, None] % (n - 1)
        made.append(("documents", Options(documents=borders.astype(int))))
    found = []
    for words, options in made:
        try:
            found.append(_each(exam, texts, options, (words, draw, bound)))
        except Refusal:  # takes one for all texts
            continue
    return found


def _positions(n: int) -> np.ndarray:
    """Of three texts: one after another, with a second document, with gaps. What is relative would
    not see a shift."""
    place = np.arange(n)
    begins = max(n // 3, 1)
    return np.stack([place, np.where(place < begins, place, place - begins), 3 * place])


def _each(
    exam: Examination, texts: Inputs, options: Options, known: tuple[str, str, Rounding]
) -> Compared:
    words, draw, bound = known
    fields = ("positions", "pairs", "documents")
    field = next(name for name in fields if getattr(options, name) is not None)
    array = getattr(options, field)
    answer = exam.layer.run(texts, options)
    own = [
        exam.layer.run(texts.text(place), Options(**{field: array[place : place + 1]}))
        for place in range(_TEXTS)
    ]
    place = _first_apart(answer, np.concatenate(own))
    single = Options(**{field: array[place : place + 1]})
    script = (
        f"x = {draw}\n"
        f"one = {call_written(f'x.text({place})', single)}[0]\n"
        f"other = {call_written('x', options)}[{place}]\n"
    )
    said = f"a text alone, and in a batch whose texts have {words} of their own"
    return compared(said, own[place][0], answer[place], bound, script)
