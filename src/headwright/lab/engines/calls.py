"""What the page may ask of Python: each name is one function from a JSON object to a record.

Everything that is a result (exact moments, designs, certificates, reachability, verdicts) comes
from the public API; this file only names the arguments.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

from headwright import design as designs
from headwright import inputs
from headwright.attention import multihead
from headwright.errors import HeadwrightError, InputError
from headwright.exercise.bank import load
from headwright.homework.one_document import judge_document
from headwright.homework.reading.formats import read_text
from headwright.homework.showing.pages import as_shown
from headwright.homework.verdict import Verdict
from headwright.keys import GaussianKeys
from headwright.lab import limits
from headwright.noise import moments as exact_moments
from headwright.result import plain


def answer(name: str, body: Any) -> tuple[int, dict[str, Any]]:
    """An HTTP status and a JSON-ready object; bad input is answered in words, never by a
    traceback."""
    try:
        return 200, plain(_call(name, body))
    except HeadwrightError as error:
        return 400, {"error": str(error)}
    except MemoryError:
        words = "wanted a problem that fits in memory; got a larger one; try: fewer keys"
        return 413, {"error": words}
    except ArithmeticError:
        words = "wanted numbers that can be computed with; got an overflow; try: smaller ones"
        return 400, {"error": words}
    except RecursionError:
        words = "wanted shallow data; got lists nested too deep; try: a list of rows"
        return 400, {"error": words}
    except Exception as error:
        # A fault of ours: told to the page in one line, in full to the terminal.
        traceback.print_exc(file=sys.stderr)
        words = f"the engine failed ({type(error).__name__}); its log has the details"
        return 500, {"error": words}


def _call(name: str, body: Any) -> Any:
    if name not in CALLS:
        known = ", ".join(CALLS)
        raise InputError(wanted=f"one of {known}", got=name[:40], attempt="reload the page")
    if not isinstance(body, dict):
        kind = type(body).__name__
        raise InputError(wanted="a JSON object", got=kind, attempt='{"keys": [[1, 0]]}')

    limits.measured(body)
    return CALLS[name](body)


def _need(body: dict[str, Any], name: str) -> Any:
    if body.get(name) is None:
        fields = ", ".join(body) or "none"
        raise InputError(
            wanted=f"the field {name}", got=f"fields: {fields}"[:200], attempt=f"add {name}"
        )
    return body[name]


def _law(body: dict[str, Any]) -> GaussianKeys:
    keys = GaussianKeys(_need(body, "keys"), isotropic=body.get("isotropic", 0.0))
    radial = body.get("radial")
    return keys if radial is None else keys.radial(radial)


def attend(body: dict[str, Any]) -> Any:
    return multihead(
        _need(body, "queries"),
        _need(body, "keys"),
        _need(body, "values"),
        mix=body.get("mix"),
        scale=body.get("scale", 1.0),
    )


def moments(body: dict[str, Any]) -> Any:
    return exact_moments(
        _need(body, "queries"),
        _law(body),
        _need(body, "values"),
        mix=body.get("mix"),
        scale=body.get("scale", 1.0),
    )


def reach(body: dict[str, Any]) -> dict[str, Any]:
    found = designs.reach(_need(body, "keys"))
    return {"reachable": found.reachable, "count": sum(map(bool, found.reachable))}


def design(body: dict[str, Any]) -> dict[str, Any]:
    """`kind` copy | average | mixture, `target` a key, keys, or {key: share}; with the certificate.
    Given the noise of the keys and the values, the heads are chosen to withstand it."""
    kind = _need(body, "kind")
    keys = _need(body, "keys")
    if not isinstance(kind, str) or kind not in DESIGNS:
        known = " | ".join(DESIGNS)
        raise InputError(wanted=f"kind {known}", got=repr(kind)[:40], attempt="copy")

    solve, read_target = DESIGNS[kind]
    try:
        target = read_target(_need(body, "target"))
    except (TypeError, ValueError):
        raise InputError(
            wanted="a target like 0, [0, 1] or {0: 0.7, 1: 0.3}",
            got=repr(body["target"])[:60],
            attempt="[0, 1]",
        ) from None

    noisy = body.get("isotropic") is not None or body.get("radial") is not None
    robust = {"law": _law(body), "values": _need(body, "values")} if noisy else {}
    leak = inputs.number("leak", body.get("leak", 1e-2), low=0, high=1, open_ends=True)
    made = solve(
        target,
        keys,
        leak=leak,
        heads=body.get("heads", 1),
        scale=body.get("scale", 1.0),
        seconds=limits.SECONDS / 2,
        **robust,
    )
    return {**plain(made), "certificate": made.certify()}


def _one(target: Any) -> Any:
    return target


def _shares(target: Any) -> dict[int, Any]:
    """JSON has no numbers as names of fields."""
    return {_key(name): share for name, share in dict(target).items()}


def _key(text: Any) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(
            wanted="keys numbered from 0", got=repr(text)[:40], attempt='{"0": 0.7}'
        ) from None


def check(body: dict[str, Any]) -> dict[str, Any]:
    text = _need(body, "text")
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError(wanted="text", got=kind, attempt="paste the answer as it was written")

    # Not hw.check: it opens a file when the text names one, and this text comes from a browser.
    document = read_text(text, name="answer")
    judged = judge_document(document)
    report = plain(judged)
    for verdict, record in zip(judged.verdicts, report["verdicts"], strict=True):
        _add_markup(verdict, record)
    titles = {question.id: question.title for question in load(None).questions}
    return {**report, "text": document.text, "titles": titles}


def _add_markup(verdict: Verdict, record: dict[str, Any]) -> None:
    """The pages of `headwright check --html` and the lab show an answer alike."""
    record["shown"] = as_shown(verdict)
    for step, part in zip(verdict.steps, record["steps"], strict=True):
        _add_markup(step, part)


# kind -> who designs it, and how its target is read
DESIGNS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "copy": (designs.copy, _one),
    "average": (designs.average, list),
    "mixture": (designs.mixture, _shares),
}

CALLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "attend": attend,
    "moments": moments,
    "reach": reach,
    "design": design,
    "check": check,
}
