"""Runs the notebooks beside it and stores what they show: python docs/notebooks/run.py [NAME ...]

Jupyter is not needed: a cell is executed, what it prints is kept, and its last expression shows
itself as in a notebook. `tests/docs/test_notebooks.py` compares what is stored with a fresh run."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Dots per inch of a stored picture: sharp enough on a page, some 20 KB each.
_DPI = 80


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def executed(notebook: dict) -> Iterator[list[dict]]:
    """The outputs of each code cell, one cell after another in one namespace."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield _outputs("".join(cell["source"]), names)


def _outputs(source: str, names: dict[str, Any]) -> list[dict]:
    tree = ast.parse(source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        # In a notebook `_` is the value of the last expression.
        assigned = ast.Assign([ast.Name("_", ast.Store())], last.value)
        tree.body[-1] = ast.copy_location(assigned, last)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.fix_missing_locations(tree), "cell", "exec"), names)

    outputs: list[dict] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed)})
    value = names.pop("_", None)
    if value is not None:
        outputs.append({"output_type": "display_data", "metadata": {}, "data": _shown(value)})
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    """As a notebook would: a table or a picture where the value has one, and its short form."""
    shown: dict[str, Any] = {"text/plain": [repr(value)]}
    table = value._repr_html_() if hasattr(value, "_repr_html_") else None
    if table:
        shown["text/html"] = _lines(io.StringIO(table))
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        # White: black letters must be readable on a dark page as well. Without the version of the
        # library that drew it, the same picture is the same bytes.
        value.savefig(picture, dpi=_DPI, facecolor="white", metadata={"Software": None})
        shown["image/png"] = base64.b64encode(picture.getvalue()).decode()
    return shown


def _lines(text: io.StringIO) -> list[str]:
    return text.getvalue().splitlines(keepends=True)


def main() -> None:
    chosen = [HERE / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb"))
    for path in chosen:
        notebook = read(path)
        outputs = list(executed(notebook))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, (cell, stored) in enumerate(zip(code, outputs, strict=True), start=1):
            cell["outputs"] = stored
            cell["execution_count"] = number
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
