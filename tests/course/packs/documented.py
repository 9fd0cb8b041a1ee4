"""results.json against the fields that a platform documents, one by one."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

_FIELDS = tomllib.loads(Path(__file__).with_name("documented.toml").read_text("utf-8"))
_KINDS = {"number": (int, float), "text": str, "table": dict, "list": list, "truth": bool}
_MOST_BYTES = 1_000_000


def faults(platform: str, results: dict) -> list[str]:
    """Everything that the platform would not understand, or would show as passed without cause."""
    found = [*_unknown(results, _FIELDS[platform]["results"], "results")]
    for place, test in enumerate(results.get("tests", [])):
        found += _unknown(test, _FIELDS[platform]["test"], f"test {place}")
    written = json.dumps(results, ensure_ascii=False, indent=1)
    if len(written.encode("utf-8", "backslashreplace")) > _MOST_BYTES:
        found.append("too large")
    return found


def green(platform: str, results: dict) -> list[str]:
    """The names of tests that the platform shows as passed."""
    return [test["name"] for test in results["tests"] if _GREEN[platform](test)]


def _green_on_gradescope(test: dict) -> bool:
    decided = test.get("status")
    if decided is not None:
        return decided == "passed"
    return test.get("score", 0) >= test.get("max_score", 0)


_GREEN = {
    "gradescope": _green_on_gradescope,
    "prairielearn": lambda test: test["points"] >= test["max_points"],
}


def _unknown(row: dict, fields: dict, where: str) -> list[str]:
    found = []
    for name, value in row.items():
        rule = fields.get(name)
        if rule is None or not _is_allowed(value, rule):
            found.append(f"{where}: {name} = {value!r}")
    return found


def _is_allowed(value: object, rule: dict) -> bool:
    if "one_of" in rule:
        return value in rule["one_of"]
    kind = rule["kind"]
    if not isinstance(value, _KINDS[kind]) or (kind == "number" and isinstance(value, bool)):
        return False
    low, high = rule.get("range", (-math.inf, math.inf))
    return kind != "number" or (math.isfinite(value) and low <= value <= high)
