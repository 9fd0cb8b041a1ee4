"""All formats by name: what `--export FORMAT=FILE` takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headwright import files
from headwright.errors import InputError
from headwright.trained.cache.budget.document import write_plan
from headwright.trained.cache.budget.plan import Plan
from headwright.trained.cache.exports import kvtuner, llamacpp, vllm

_WORDS: dict[str, Callable[[Plan], str]] = {
    "kvtuner": kvtuner.written,
    "vllm": vllm.written,
    "llamacpp": llamacpp.written,
}
FORMATS = ("transformers", *_WORDS)
# `vllm serve --config` refuses a file of any other name.
_ENDINGS = {"vllm": (".yaml", ".yml")}


def parsed(wanted: str) -> tuple[str, Path]:
    """`FORMAT=FILE` in its two parts."""
    name, sign, path = wanted.partition("=")
    if name not in FORMATS or not sign or not path:
        raise InputError(
            wanted=f"FORMAT=FILE with FORMAT one of {', '.join(FORMATS)}",
            got=repr(wanted),
            attempt="--export transformers=plan.json",
        )
    endings = _ENDINGS.get(name, ("",))
    if not path.endswith(endings):
        raise InputError(
            wanted=f"a file for {name} that ends in {' or '.join(endings)}",
            got=path,
            attempt=f"--export {name}={path}{endings[0]}",
        )
    return name, Path(path)


def refuse_unsayable(plan: Plan, name: str) -> None:
    if name in _WORDS:
        _WORDS[name](plan)


def export(plan: Plan, name: str, path: Path) -> Path:
    """What the format cannot say is refused before anything is written."""
    if name == "transformers":
        return write_plan(path, plan)
    return files.write_text(path, _WORDS[name](plan))
