"""What the page may ask of Python: each name is one function from a JSON object to a record.

Everything that is a result (exact moments, designs, certificates, reachability, verdicts) comes
from the public API; this file only names the arguments.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import headwright as hw
from headwright import inputs
from headwright.errors import HeadwrightError, InputError
from headwright.lab import limits
from headwright.result import plain


def answer(name: str, body: Any) -> tuple[int, dict[str, Any]]:
    """An HTTP status and a JSON-ready object; bad input and missing parts are words, never a
    traceback."""
    try:
        if name not in ENDPOINTS:
            raise InputError(
                wanted=f"one of {', '.join(ENDPOINTS)}", got=name[:40], attempt="reload the page"
            )
        if not isinstance(body, dict):
            raise InputError(
                wanted="a JSON object", got=type(body).__name__, attempt='{"keys": [[1, 0]]}'
            )
        limits.measured(body)
        return 200, plain(ENDPOINTS[name](body))
    except HeadwrightError as error:
        return 400, {"error": str(error)}
    except (ImportError, AttributeError) as error:
        return 501, {
            "error": f"wanted the part of headwright behind {name!r}; got none here ({error})"
        }
    except MemoryError:
        return 413, {
            "error": "wanted a problem that fits in memory; got a larger one; try: fewer keys"
        }
    except ArithmeticError:
        return 400, {
            "error": "wanted numbers that can be computed with; got an overflow; try: smaller ones"
        }
    except RecursionError:
        return 400, {"error": "wanted shallow data; got lists nested too deep; try: a list of rows"}
    except (
        Exception
    ) as error:  # a fault of ours: told to the page in one line, in full to the terminal
        traceback.print_exc(file=sys.stderr)
        return 500, {
            "error": f"the engine failed ({type(error).__name__}); its log has the details"
        }


def _need(body: dict[str, Any], name: str) -> Any:
    if body.get(name) is None:
        raise InputError(
            wanted=f"the field {name}",
            got=f"fields: {', '.join(body) or 'none'}"[:200],
            attempt=f"add {name}",
        )
    return body[name]


def _law(body: dict[str, Any]) -> hw.GaussianKeys:
    keys = hw.GaussianKeys(_need(body, "keys"), isotropic=body.get("isotropic", 0.0))
    radial = body.get("radial")
    return keys if radial is None else keys.radial(radial)


def attend(body: dict[str, Any]) -> Any:
    return hw.multihead(
        _need(body, "queries"),
        _need(body, "keys"),
        _need(body, "values"),
        mix=body.get("mix"),
        scale=body.get("scale", 1.0),
    )


def moments(body: dict[str, Any]) -> Any:
    return hw.moments(
        _need(body, "queries"),
        _law(body),
        _need(body, "values"),
        mix=body.get("mix"),
        scale=body.get("scale", 1.0),
    )


def reach(body: dict[str, Any]) -> dict[str, Any]:
    found = hw.design.reach(_need(body, "keys"))
    return {"reachable": found.reachable, "count": sum(map(bool, found.reachable))}


def design(body: dict[str, Any]) -> dict[str, Any]:
    """`kind` copy | average | mixture, `target` a key, keys, or {key: share}; with the certificate.
    Given the noise of the keys and the values, the heads are chosen to withstand it."""
    kinds: dict[str, Callable[[Any], Any]] = {
        "copy": lambda target: target,
        "average": list,
        "mixture": lambda target: {_key(k): share for k, share in dict(target).items()},
    }
    kind, keys = _need(body, "kind"), _need(body, "keys")
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(wanted=f"kind {' | '.join(kinds)}", got=repr(kind)[:40], attempt="copy")
    try:
        target = kinds[kind](_need(body, "target"))
    except (TypeError, ValueError):
        raise InputError(
            wanted="a target like 0, [0, 1] or {0: 0.7, 1: 0.3}",
            got=repr(body["target"])[:60],
            attempt="[0, 1]",
        ) from None
    noisy = body.get("isotropic") is not None or body.get("radial") is not None
    robust = {"law": _law(body), "values": _need(body, "values")} if noisy else {}
    made = getattr(hw.design, kind)(
        target,
        keys,
        leak=inputs.number("leak", body.get("leak", 1e-2), low=0, high=1, open_ends=True),
        heads=body.get("heads", 1),
        scale=body.get("scale", 1.0),
        seconds=limits.SECONDS / 2,
        **robust,
    )
    return {**plain(made), "certificate": made.certify()}


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
        raise InputError(
            wanted="text", got=type(text).__name__, attempt="paste the answer as it was written"
        )
    # Not hw.check: it opens a file when the text names one, and this text comes from a browser.
    from headwright.exercise.bank import load
    from headwright.homework.one_document import judge_document
    from headwright.homework.reading.formats import read_text

    document = read_text(text, name="answer")
    titles = {question.id: question.title for question in load(None).questions}
    return {**plain(judge_document(document)), "text": document.text, "titles": titles}


ENDPOINTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "attend": attend,
    "moments": moments,
    "reach": reach,
    "design": design,
    "check": check,
}
